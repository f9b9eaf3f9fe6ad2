// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/output/json_sink.hpp"
#include "podrun/restarts/restart_policy.hpp"
#include "podrun/restarts/settled_host.hpp"
#include "podrun/run/outcome.hpp"

// The lines that podrun prints between the tries of a command, without a newline, and its events of --json
// (docs/json.md). Pure.
namespace podrun::restarts {

/// In --json and in PODRUN_RESTART_CAUSE; empty for none.
std::string_view identifier(RestartCause cause);
std::string_view identifier(OverReason reason);

/// How the last try went, and what the hosts were found to be after it.
struct TryReport {
  std::vector<run::HostOutcome> outcomes = {};
  std::optional<std::size_t> culprit = std::nullopt;  ///< the host whose failure was seen first
  std::vector<HostAfterTry> hosts = {};
  std::vector<std::size_t> missing = {};  ///< see RestartPolicy::missing()
};
/// The hosts that the cause is about.
std::vector<std::size_t> hosts_of(RestartCause cause, const TryReport& report);

/// A host that keeps podrun waiting.
struct Awaited {
  std::size_t host = 0;
  run::HostOutcome outcome = {};         ///< of the look at it
  std::vector<Obstacle> obstacles = {};  ///< if it has answered
};
/// `waiting for [17] (unreachable: connecting: timed out after 10 s)`, hosts with the same reason once.
/// `called`: see SessionSpec.
std::vector<std::string> describe_waiting(const std::vector<hosts::Host>& hosts,
                                          const std::vector<Awaited>& awaited,
                                          std::string_view called = "podrun");
/// For the status line: `waiting for [17]`.
std::string describe_awaited(const std::vector<hosts::Host>& hosts, const std::vector<Awaited>& awaited);

/// `[17] rebooted: a lost host, not counted (first seen: exit 1 [4])`; empty where the report of the try has
/// said it all.
std::string describe_cause(const std::vector<hosts::Host>& hosts, RestartCause cause,
                           const TryReport& report);
/// `starting again in 20 s: try 3, 2 of 3 restarts left`
std::string describe_restart(const RestartPolicy& policy, std::chrono::seconds delay);
/// `not started again: …`; empty where the final report says it.
std::string describe_end(OverReason reason, const RestartPolicy& policy,
                         const std::vector<hosts::Host>& hosts, const TryReport& report,
                         const std::vector<Awaited>& awaited);

std::string restart_event(output::WallTime time, const std::vector<hosts::Host>& hosts,
                          const RestartPolicy& policy, const TryReport& report, std::chrono::seconds delay);
std::string waiting_event(output::WallTime time, const std::vector<hosts::Host>& hosts,
                          const Awaited& awaited, std::optional<std::chrono::seconds> left);
/// `capture`: the directory of what was captured. `is_over`: a host has printed again.
std::string stall_event(output::WallTime time, const std::vector<hosts::Host>& hosts,
                        const std::vector<std::size_t>& stalled, std::chrono::seconds silent,
                        const std::string& capture, bool is_over);
std::string over_event(output::WallTime time, OverReason reason, std::size_t tries, int status);

}  // namespace podrun::restarts
