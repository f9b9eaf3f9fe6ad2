// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "podrun/jobs/job_start.hpp"
#include "podrun/session/session.hpp"

namespace podrun::jobs {

/// Starts the command of this run as a job, on all hosts or on none. The exit status: 0 when it runs
/// everywhere. `spec`: of the session.
int start_job(session::Session& session, const session::SessionSpec& spec, session::RunSpec run,
              const JobStart& job);

}  // namespace podrun::jobs
