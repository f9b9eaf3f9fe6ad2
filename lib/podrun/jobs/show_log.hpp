// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "podrun/jobs/ask_jobs.hpp"
#include "podrun/jobs/log_follow.hpp"
#include "podrun/session/session.hpp"

namespace podrun::jobs {

/// Shows the output of a job on these hosts (indexes), which have it; goes on after a lost connection. The
/// largest exit status of the job. `run`: gives the view and the command that repeats it.
int show_log(session::Session& session, session::RunSpec run, const std::vector<std::size_t>& hosts,
             const LogRequest& request);

}  // namespace podrun::jobs
