// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/jobs/job_list.hpp"
#include "podrun/output/json_sink.hpp"
#include "podrun/run/outcome.hpp"

// The words and the JSON of jobs. Pure; text of hosts is escaped.
namespace podrun::jobs {

/// A host that has answered.
struct ListedJobs {
  std::size_t host = 0;  ///< index
  JobList list;
};

/// A line for each name of a job, its hosts folded by state:
/// `train  running [0-30] · exit 1 [31] · started 3 h ago · output 12 s ago · python train.py`
std::vector<std::string> describe_jobs(const std::vector<hosts::Host>& hosts,
                                       const std::vector<ListedJobs>& listed, std::string_view separator);

/// Everything that is known. `outcomes`: of each host of the run. Schema: docs/jobs-schema.json
std::string jobs_json(output::WallTime time, const std::vector<hosts::Host>& hosts,
                      const std::vector<run::HostOutcome>& outcomes, const std::vector<ListedJobs>& listed);

}  // namespace podrun::jobs
