// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cli/podrun_command.hpp"

namespace podrun::commands {

std::unique_ptr<cli::Command> make_ps_command();
std::unique_ptr<cli::Command> make_stop_command();
std::unique_ptr<cli::Command> make_rm_command();

}  // namespace podrun::commands
