// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "podrun/jobs/ask_jobs.hpp"

namespace podrun::jobs {

enum class JobAction { list, stop, remove };

struct JobsPlan {
  JobAction action = JobAction::list;
  std::vector<std::string> names = {};  ///< empty: all jobs; not with stop
  bool all_ended = false;         ///< with remove: those that have ended on all hosts, in place of names
  std::chrono::seconds grace{0};  ///< with stop: between TERM and KILL
  std::vector<Job> kept = {};     ///< with list: jobs that this machine keeps, see kept_jobs.hpp
  bool json = false;
  std::size_t columns = 0;  ///< of the terminal that shows the list; 0: none
};

/// The run of jobs.sh that the plan asks for, on every host that can be reached.
session::RunSpec manage_run(const session::SessionSpec& session, const JobsPlan& plan);

struct ManagedJobs {
  int status = 0;  ///< the exit status
  JobAnswers jobs = {};
};

/// Lists, stops or removes jobs, and prints what the hosts have answered. A job that runs on one host is
/// removed from none. The session should keep its connections.
ManagedJobs manage_jobs(session::Session& session, const JobsPlan& plan);

/// The list of JobsPlan::kept alone, as whole lines: where no hosts are asked.
std::string describe_kept(const JobsPlan& plan);

/// The names of all jobs in the answers.
std::set<std::string> names_of(const JobAnswers& jobs);

}  // namespace podrun::jobs
