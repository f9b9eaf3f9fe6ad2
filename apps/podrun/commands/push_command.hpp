// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "podrun/files/push.hpp"

#include "cli/podrun_command.hpp"
#include "commands/plan.hpp"

namespace podrun::commands {

std::unique_ptr<cli::Command> make_push_command();

/// Copies local files to every host of a plan, and says how that went. The exit status. Throws UsageError.
int push(files::PushRequest request, const Plan& found, const cli::Context& context);

}  // namespace podrun::commands
