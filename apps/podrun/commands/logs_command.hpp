// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cli/podrun_command.hpp"

namespace podrun::commands {

std::unique_ptr<cli::Command> make_logs_command();

}  // namespace podrun::commands
