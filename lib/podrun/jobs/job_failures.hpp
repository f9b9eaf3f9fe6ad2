// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "podrun/link/failure.hpp"

namespace podrun::jobs {

// The stages and the cause of failures of jobs, besides those that all runs share.
inline constexpr link::StageWords kJobName{
    .identifier = "job_name", .words = "job", .doing = "reserving the name"};
inline constexpr link::StageWords kJobLog{
    .identifier = "job_log", .words = "output of the job", .doing = "following"};

inline constexpr link::CauseWords kJobExists{"job_exists", "a job of this name runs already"};

}  // namespace podrun::jobs
