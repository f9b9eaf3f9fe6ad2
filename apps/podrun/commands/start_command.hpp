// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "podrun/jobs/job_start.hpp"

#include "cli/podrun_command.hpp"
#include "commands/plan.hpp"
#include "commands/run_sequence.hpp"

namespace podrun::commands {

std::unique_ptr<cli::Command> make_start_command();

/// Starts the plan's command as a job, on all hosts or on none. The exit status: 0 when it runs everywhere.
int start_job(RunSequence& runs, Plan plan, const jobs::JobStart& job, const cli::Options& options,
              const cli::Context& context);

}  // namespace podrun::commands
