// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/run/outcome.hpp"

namespace podrun::report {

/// What a run does on its hosts. A task: a step of one, on all of its hosts or on none. Answers: what hosts
/// say, or the files or output that they have.
enum class Work { command, files, answers, task, job };

/// `exit 1`, `killed by SIGTERM`, `timed out after 10 s`, `lost: …`, …
std::string describe(const run::HostOutcome& outcome);

/// `podrun: exit 1: [3,17]`, `podrun: lost: [41] tpu-41: connection: …`: a line for each fault. Pure.
std::vector<std::string> describe_failures(const std::vector<hosts::Host>& hosts,
                                           const std::vector<run::HostOutcome>& outcomes);

/// The summary at the end of a run: the number of hosts of each kind, then a line for each fault. Without
/// newlines; none when everything went well. Pure.
std::vector<std::string> summarize(const std::vector<hosts::Host>& hosts,
                                   const std::vector<run::HostOutcome>& outcomes,
                                   std::optional<std::size_t> culprit, std::optional<int> interrupted_by,
                                   std::string_view separator = " · ", Work work = Work::command);

}  // namespace podrun::report
