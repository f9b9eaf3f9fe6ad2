// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "podrun/remote/command.hpp"

namespace podrun::jobs {

/// Throws UsageError for a name that can be none: letters, digits, `_`, `.` and `-` are allowed, 64 at most.
void check_job_name(const std::string& name);

struct JobStart {
  std::string name;
  std::uint64_t log_size = 1'000'000'000;  ///< bytes of each stream's output that are kept on each host
};

/// The command that starts a job where its name is claimed, see Claims. It ends when the job runs.
remote::RemoteCommand start_command(const JobStart& job, const remote::Command& command);

}  // namespace podrun::jobs
