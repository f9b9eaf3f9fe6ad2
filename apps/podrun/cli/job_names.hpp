// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/probe.hpp"

// The jobs that podrun has seen last, `~/.local/state/podrun/job_names`: their names for completion, which
// cannot wait for hosts, and where they were started, since a host may leave the list while a job runs there.
// Failures to write are ignored: this is a convenience.
namespace podrun::cli {

std::vector<std::string> seen_job_names(const hosts::Probe& probe);

/// A job was started on these hosts; none: this machine keeps it.
void note_started(const std::string& name, const std::vector<hosts::Host>& on, const hosts::Probe& probe);
/// The hosts have jobs of these names, and no others.
void note_listed(const std::set<std::string>& names, const std::vector<hosts::Host>& of,
                 const hosts::Probe& probe);
/// The hosts have no jobs of these names any more.
void note_removed(const std::set<std::string>& names, const std::vector<hosts::Host>& from,
                  const hosts::Probe& probe);

/// `train was started on tpu-5 too, which is not among these hosts (podrun -H tpu-5 ps train)`: for each job
/// that was started on some of these hosts and on others. `names`: only these; empty: all.
std::vector<std::string> describe_left(const std::vector<hosts::Host>& hosts,
                                       const std::vector<std::string>& names, std::string_view verb,
                                       const hosts::Probe& probe);

}  // namespace podrun::cli
