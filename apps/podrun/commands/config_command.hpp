// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cli/podrun_command.hpp"

namespace podrun::commands {

/// `podrun config`: every option that is set or has a default, as keys of a configuration, with where it came
/// from as a comment. Of variables only the names are shown.
std::unique_ptr<cli::Command> make_config_command();

}  // namespace podrun::commands
