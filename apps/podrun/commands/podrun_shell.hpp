// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cli/podrun_command.hpp"

namespace podrun::commands {

/// `podrun shell`: a prompt, each line of which runs on every host.
std::unique_ptr<cli::Command> make_shell_command();

}  // namespace podrun::commands
