// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "podrun/output/status_line.hpp"

#include "cli/podrun_command.hpp"
#include "commands/mode.hpp"
#include "commands/plan.hpp"

namespace podrun::commands {

/// The plan that it is given is the run's, and outlives what is made.
using MakeMode = std::function<std::unique_ptr<Mode>(const Plan& plan, output::Charset charset)>;

/// Runs a plan, or prints it with --dry-run. The exit status.
int start_plan(Plan plan, const cli::Context& context, const MakeMode& make_mode);

}  // namespace podrun::commands
