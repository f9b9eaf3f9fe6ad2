// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <variant>
#include <vector>

#include "podrun/link/link.hpp"

// Every way a host's part of a run can end, and the exit status of the run. Pure.
namespace podrun::run {

/// The command did not start here, not through a fault of this host.
struct NotStarted {
  friend bool operator==(const NotStarted&, const NotStarted&) = default;
};
/// The host could not be reached, or was not ready: nothing was started on it.
struct Unreachable {
  link::Failure failure;     ///< of the last attempt
  std::size_t attempts = 1;  ///< that failed
  friend bool operator==(const Unreachable&, const Unreachable&) = default;
};
/// The command ran longer than --timeout and was stopped.
struct TimedOut {
  std::chrono::milliseconds limit{};
  friend bool operator==(const TimedOut&, const TimedOut&) = default;
};
/// It had printed nothing for so long that it was taken for stuck (--stall), and was stopped.
struct Stalled {
  std::chrono::seconds silent{};
  friend bool operator==(const Stalled&, const Stalled&) = default;
};
/// The host was lost while the command ran: how the command ended is unknown.
struct Lost {
  link::Failure failure;
  friend bool operator==(const Lost&, const Lost&) = default;
};
/// podrun stopped the command because of another host's failure or an interrupt.
struct Stopped {
  friend bool operator==(const Stopped&, const Stopped&) = default;
};

using HostOutcome =
    std::variant<NotStarted, link::Exited, link::Signaled, TimedOut, Stalled, Lost, Unreachable, Stopped>;

/// The exit status of the command, or the number that stands for its end: 124 timed out or stalled, 128+N
/// killed by signal N, 255 unreachable or lost. None for hosts that do not count: not started, or stopped by
/// podrun.
std::optional<int> host_number(const HostOutcome& outcome);

bool is_failure(const HostOutcome& outcome);

/// Whether the command exited with 0. A host that does not count has neither failed nor succeeded.
bool has_succeeded(const HostOutcome& outcome);

/// Whether the command was started there, or may have been.
bool may_have_run(const HostOutcome& outcome);

/// 128 + `interrupted_by` (a signal number) if there was one, otherwise the largest of the hosts' numbers.
int exit_status(const std::vector<HostOutcome>& outcomes, std::optional<int> interrupted_by);

/// Hosts with equal outcomes, regardless of the number of attempts.
struct OutcomeGroup {
  HostOutcome outcome;
  std::vector<std::size_t> hosts;  ///< indexes
  std::size_t fewest_attempts;
  std::size_t most_attempts;
};

/// Groups hosts: success first, then by kind of outcome, then by status.
std::vector<OutcomeGroup> group_outcomes(const std::vector<HostOutcome>& outcomes);

/// The failure in the outcome, if it has one.
const link::Failure* failure_of(const HostOutcome& outcome);

}  // namespace podrun::run
