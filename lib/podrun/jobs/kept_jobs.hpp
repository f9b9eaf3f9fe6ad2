// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "podrun/jobs/job_report.hpp"
#include "podrun/session/session.hpp"

// Jobs that this machine keeps for other hosts: podrun itself, as a job of this machine. `here`: a session of
// `local` alone.
namespace podrun::jobs {

struct KeptJobs {
  std::vector<Job> jobs = {};
  std::optional<int> interrupted_by = std::nullopt;  ///< a signal: then some may be missing
};

/// The kept jobs of these names, which are separated by blanks; empty: all.
KeptJobs kept_jobs(session::Session& here, const std::string& names);

/// The time that the podrun of a kept job needs after TERM, besides the grace period of its hosts.
inline constexpr std::chrono::seconds kTimeToEnd{20};

/// Waits until a kept job, which was just started, has run its command on all hosts for a second. If it ends
/// before that, its output is shown; if podrun is interrupted before it has begun, it is stopped and removed.
/// The exit status then; none: it runs.
std::optional<int> await_begin(session::Session& here, const std::string& name);

}  // namespace podrun::jobs
