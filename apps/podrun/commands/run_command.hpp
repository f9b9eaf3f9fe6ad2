// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cli/podrun_command.hpp"

namespace podrun::commands {

/// `podrun -- COMMAND`: the user's command on every host; its output as the options want it, the final
/// report, the largest of the hosts' statuses.
std::unique_ptr<cli::Command> make_run_command();

}  // namespace podrun::commands
