// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "podrun/jobs/job_start.hpp"
#include "podrun/session/session.hpp"

namespace podrun::jobs {

struct Committed {
  bool is_everywhere = false;  ///< else the job ends by itself after a minute where it was committed nowhere
  int status = 0;  ///< the largest of commands that have ended already (0 with --json); else that of the run
};

/// Commits the start of a job: without this it ends after a minute. Waits a second on the hosts, and says
/// that it runs or how it has ended there. `start`: the run that has started it on all its hosts.
Committed commit_job(session::Session& session, const session::SessionSpec& spec,
                     const session::RunSpec& start, const JobStart& job);

}  // namespace podrun::jobs
