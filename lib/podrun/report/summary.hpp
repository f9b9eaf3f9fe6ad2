// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/run/outcome.hpp"

namespace podrun::report {

/// The work of a run on its hosts: the user's command; a push; answers (also files and output) of those hosts
/// that can be reached; a step of a task, on all hosts or none; a job.
enum class Work { command, files, answers, task, job };

/// `exit 1`, `killed by SIGTERM`, `timed out after 10 s`, `lost: …`, …
std::string describe(const run::HostOutcome& outcome);

bool has_changed_key(const run::HostOutcome& outcome);

/// `if [3] was recreated: podrun --workers 3 hosts --forget-keys`, for hosts with changed keys. `called`: see
/// SessionSpec; a second `--workers` counts.
std::string forget_keys_advice(const std::vector<hosts::Host>& all, const std::vector<std::size_t>& hosts,
                               std::string_view called = "podrun");

/// `podrun: exit 1: [3,17]`, `podrun: lost: [41] tpu-41: connection: …`: a line for each fault. Pure.
std::vector<std::string> describe_failures(const std::vector<hosts::Host>& hosts,
                                           const std::vector<run::HostOutcome>& outcomes);

/// The summary at the end of a run: the number of hosts for each kind of outcome, then a line for each fault.
/// Without newlines; empty if everything went well. Pure.
std::vector<std::string> summarize(const std::vector<hosts::Host>& hosts,
                                   const std::vector<run::HostOutcome>& outcomes,
                                   std::optional<std::size_t> culprit, std::optional<int> interrupted_by,
                                   std::string_view separator = " · ", Work work = Work::command);

/// The last lines of failed hosts, without newlines. Hosts with equal outcomes and equal last lines are one
/// kind; each outcome shows at most 3 kinds, without those whose lines were just seen. Pure.
std::vector<std::string> report_failures(
    const std::vector<hosts::Host>& hosts, const std::vector<run::HostOutcome>& outcomes,
    const std::function<std::vector<std::string>(std::size_t host)>& last_lines,
    const std::function<bool(std::size_t host)>& were_just_seen);

/// The worker numbers of hosts that did not succeed, `3,17`: failed, stopped by podrun or not started. Empty
/// if these are all hosts or none, or if nothing was started at all.
std::string workers_to_repeat(const std::vector<hosts::Host>& hosts,
                              const std::vector<run::HostOutcome>& outcomes);

}  // namespace podrun::report
