// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <cstddef>
#include <vector>

#include "podrun/jobs/log_request.hpp"
#include "podrun/session/session.hpp"

namespace podrun::jobs {

/// RunResult::interrupted_by where LogRequest::gives_up_at has come.
inline constexpr int kSignalOfLimit = SIGALRM;

/// Shows the output of a job on these hosts (indexes), which have it; goes on after a lost connection. The
/// status is the largest exit status of the job. `run`: gives the view and the command that repeats it.
session::RunResult show_log(session::Session& session, session::RunSpec run,
                            const std::vector<std::size_t>& hosts, LogRequest request);

}  // namespace podrun::jobs
