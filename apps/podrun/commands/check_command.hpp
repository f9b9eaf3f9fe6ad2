// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cli/podrun_command.hpp"

namespace podrun::commands {

/// `podrun check`: compares what the hosts say of themselves; status 1 when they differ or one has a problem.
std::unique_ptr<cli::Command> make_check_command();

}  // namespace podrun::commands
