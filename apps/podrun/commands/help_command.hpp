// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cli/podrun_command.hpp"

namespace podrun::commands {

/// `podrun help [COMMAND | all]`
std::unique_ptr<cli::Command> make_help_command();
/// `podrun version`
std::unique_ptr<cli::Command> make_version_command();

}  // namespace podrun::commands
