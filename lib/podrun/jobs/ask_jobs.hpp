// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "podrun/jobs/job_report.hpp"
#include "podrun/jobs/scripts.hpp"
#include "podrun/session/ask_hosts.hpp"

namespace podrun::jobs {

/// The answers of the hosts about their jobs.
struct JobAnswers {
  std::vector<ListedJobs> listed = {};  ///< of the hosts that have answered to the end
  session::Answers answers = {};        ///< of all
};

/// Says which of the hosts that have answered do not have the job. `without`: indexes, at least one.
void say_not_there(session::Session& session, const std::vector<hosts::Host>& hosts, const JobAnswers& jobs,
                   const std::vector<std::size_t>& without, const std::string& what);

/// The command that runs jobs.sh with these words.
supervisor::RemoteCommand jobs_command(JobsWords words);

/// A run of jobs.sh on every host that can be reached. `grace`: the time that a job may take there to stop.
session::RunSpec jobs_run(const session::SessionSpec& session, JobsWords words,
                          std::chrono::seconds grace = std::chrono::seconds(0));

/// The run that asks for these jobs, separated by blanks; empty: for all.
session::RunSpec list_run(const session::SessionSpec& session, const std::string& names);

/// Makes the run. Names the hosts that have not answered, and passes on what went wrong there. `show`: see
/// session::ask_hosts().
JobAnswers ask_jobs(session::Session& session, const session::RunSpec& run,
                    const std::function<std::string(const std::vector<ListedJobs>&)>& show = nullptr);

}  // namespace podrun::jobs
