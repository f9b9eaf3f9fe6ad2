// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "podrun/jobs/job_report.hpp"

#include "cli/podrun_command.hpp"
#include "commands/look.hpp"

namespace podrun::commands {

/// What the hosts say of their jobs.
struct JobLook {
  std::vector<jobs::ListedJobs> listed = {};  ///< of the hosts that have answered
  Look look = {};
};

/// The plan that asks them: `arguments` are those of jobs.sh.
Plan make_job_plan(const std::string& arguments, std::chrono::seconds time, const cli::Context& context);

/// Asks them. Names the hosts that have not answered, and passes on what went wrong there.
JobLook look_at_jobs(RunSequence& runs, const Plan& plan, const cli::Context& context);

}  // namespace podrun::commands
