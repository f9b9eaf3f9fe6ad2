// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "podrun/jobs/job_report.hpp"
#include "podrun/jobs/scripts.hpp"

#include "cli/podrun_command.hpp"
#include "commands/look.hpp"

namespace podrun::commands {

/// The jobs of the hosts that have answered, and how that run ended.
struct JobLook {
  std::vector<jobs::ListedJobs> listed = {};  ///< of the hosts that have answered
  Look look = {};
};

/// The command that runs jobs.sh with these words.
remote::RemoteCommand jobs_command(jobs::JobsWords words);

/// The plan of a run of jobs.sh on every host that can be reached. `grace`: the time that a job may take
/// there to stop.
Plan make_job_plan(jobs::JobsWords words, const cli::Context& context,
                   std::chrono::seconds grace = std::chrono::seconds(0));

/// Asks them. Names the hosts that have not answered, and passes on what went wrong there.
JobLook look_at_jobs(RunSequence& runs, const Plan& plan, const cli::Context& context);

}  // namespace podrun::commands
