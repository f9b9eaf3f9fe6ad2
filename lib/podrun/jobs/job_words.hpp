// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/jobs/job_report.hpp"

// Jobs in words. Pure. Text that comes from a host is escaped.
namespace podrun::jobs {

/// `running`, `exit 137 (SIGKILL)`, `stopped`, `on login2`
std::string describe_state(const Job& job);

enum class Heading { shown, none };

/// A row for each job, with its hosts folded by state, those that this machine keeps (`kept`) first; aligned,
/// without newlines. The command is cut so that a row fits in `columns`; 0: it is not cut.
std::vector<std::string> describe_jobs(const std::vector<Job>& kept, const std::vector<hosts::Host>& hosts,
                                       const std::vector<ListedJobs>& listed, std::string_view separator,
                                       Heading heading, std::size_t columns);

/// The hosts that have been silent for much longer than the others that have a job.
std::vector<hosts::Host> silent_hosts(const std::vector<hosts::Host>& hosts,
                                      const std::vector<ListedJobs>& listed);

/// `as worker 6 of another list (6-tpu-6)`. `place`: see Job::place.
std::string describe_place(std::string_view place);

/// Where to find a job of another machine: JobState::elsewhere.
std::string describe_elsewhere(std::string_view name, std::string_view machine, std::string_view place);
/// Lines about jobs of this name that were started with another list, or on another machine: `[5] has train
/// as worker 6 of another list (6-tpu-6)`.
std::vector<std::string> describe_strays(const std::string& name, const std::vector<hosts::Host>& hosts,
                                         const std::vector<ListedJobs>& listed);

/// How a job goes a second after its start, one for each host (`called`: see SessionSpec): `podrun: train
/// runs on 16 hosts (…)`, `podrun: exit 127 [3]: bash: nosuch: command not found`.
std::vector<std::string> describe_start(const std::string& name, const std::vector<hosts::Host>& hosts,
                                        const std::vector<Job>& jobs, const std::string& called);

}  // namespace podrun::jobs
