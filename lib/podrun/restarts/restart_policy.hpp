// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <variant>
#include <vector>

#include "podrun/run/countdowns.hpp"
#include "podrun/run/outcome.hpp"

// The decisions around the tries of a command (--restarts), without their effects. A try is a run of it on
// all hosts.
namespace podrun::restarts {

/// When hosts that print nothing are taken for stuck (--stall).
struct StallLimits {
  std::optional<std::chrono::seconds> all = std::nullopt;  ///< no host has printed; none: never
  std::chrono::seconds first{3600};                        ///< not before a try is so old

  bool are_set() const { return all.has_value(); }
};

/// What a host has printed in a try.
struct HostSilence {
  bool runs = false;      ///< its command has not ended
  bool is_known = false;  ///< false: podrun does not read from it, so its silence says nothing
  std::optional<run::TimePoint> last = std::nullopt;  ///< none: nothing yet
};

/// The hosts that run, if all of them have been silent for too long; empty: no, or it is not known. Pure.
std::vector<std::size_t> stalled_hosts(const StallLimits& limits, const std::vector<HostSilence>& hosts,
                                       run::TimePoint started, run::TimePoint now);

struct RestartLimits {
  bool allowed = true;               ///< false: the first try is the only one, also after a lost host
  std::size_t restarts = 0;          ///< after failures of the command in a row; lost hosts do not count
  std::chrono::seconds reset{3600};  ///< a try that ran for this long gives all of them back
  /// A first try that fails sooner is the last, as are several in a row: RestartPolicy::most_short_tries().
  std::chrono::seconds short_try{60};
  std::optional<std::chrono::seconds> wait_hosts = std::chrono::seconds(3600);  ///< none: for ever
  std::vector<int> final_statuses = {93, 126, 127};  ///< nothing starts again after one of these
  std::optional<std::chrono::milliseconds> timeout = std::nullopt;  ///< of all tries together
};

/// Why a try ended, the worst that is known of any host last.
enum class RestartCause : std::uint8_t { none, exit, signal, oom, stalled, lost, rebooted, replaced };
/// Whether the cause is the loss of a host, and no failure of the command.
constexpr bool is_loss(RestartCause cause) { return cause >= RestartCause::lost; }

enum class OverReason : std::uint8_t {
  finished,         ///< every host ended with 0, and is still there
  interrupted,      ///< by a signal, or since nobody reads the output
  first_try,        ///< it has never run for RestartLimits::short_try
  crash_loop,       ///< RestartPolicy::most_short_tries() in a row failed sooner than that
  restarts,         ///< all of them are used
  final_status,     ///< see RestartLimits::final_statuses
  partly_finished,  ///< a host that is still there ended with 0, so the command believes that it is done
  hosts_missing,    ///< longer than RestartLimits::wait_hosts
  losses,           ///< ten in an hour
  prepare,          ///< the command of --prepare failed
  timed_out         ///< RestartLimits::timeout is over
};

/// What a host was found to be after a try. Between tries podrun ends what it finds of the last one.
struct HostAfterTry {
  /// ready: it has answered, nothing of the try is left, and nothing holds its accelerators.
  enum class State : std::uint8_t { missing, busy, ready };
  State state = State::missing;
  bool was_rebooted = false;
  bool was_replaced = false;
  bool ran_out_of_memory = false;
};

/// Whether the host counts as lost after a try, whatever its exit status was.
constexpr bool is_gone(const HostAfterTry& after) {
  return after.was_rebooted || after.was_replaced || after.state == HostAfterTry::State::missing;
}
/// Whether the kernel killed the command there for want of memory, as far as podrun can know.
bool is_out_of_memory(const run::HostOutcome& outcome, const HostAfterTry& after);

/// Events.
namespace event {
struct TryEnded {
  std::vector<run::HostOutcome> outcomes;
  int status = 0;  ///< the exit status of the run
  std::optional<int> interrupted_by = std::nullopt;
  std::optional<run::TimePoint::duration> ran =
      std::nullopt;  ///< since the commands started; none: they did not
  bool has_stalled = false;
};
/// The answer to step::Survey, of all hosts.
struct Surveyed {
  std::vector<HostAfterTry> hosts;
};
/// The answer to step::Prepare: the status of the command.
struct Prepared {
  int status = 0;
};
struct RestartInterrupted {
  int signal = 0;
};
}  // namespace event
using RestartEvent =
    std::variant<event::TryEnded, event::Surveyed, event::Prepared, event::RestartInterrupted>;

/// What to do next, and when.
namespace step {
/// Look at all hosts.
struct Survey {
  run::TimePoint at;
  bool stops_nothing = false;  ///< stops no process: all hosts ended with 0, and none is known to be lost
};
/// Run the command of --prepare, if there is one; else answer with 0.
struct Prepare {
  run::TimePoint at;
};
struct StartTry {};
struct Over {
  OverReason reason;
  int status;
};
}  // namespace step
using RestartStep = std::variant<step::Survey, step::Prepare, step::StartTry, step::Over>;

/// Decides whether and when a command starts again. Every event has one answer. Pure.
class RestartPolicy {
 public:
  static constexpr std::size_t kShortTries = 3;
  static constexpr std::size_t kShortTriesOfProven = 6;  ///< ten minutes with the pauses between them
  static constexpr std::size_t kLosses = 10;
  static constexpr std::chrono::hours kOfLosses{1};

  RestartPolicy(const RestartLimits& limits, run::TimePoint begin) : limits_(limits), begun_at_(begin) {}

  RestartStep on(const RestartEvent& event, run::TimePoint now);
  /// Whether nothing starts again, whatever the hosts say; else it depends on them. For the report of a try.
  bool is_certainly_over(const event::TryEnded& ended, run::TimePoint now) const {
    return end_of(ended, now).has_value();
  }

  /// How many times it has been started again, or is about to be.
  std::size_t restarts() const { return restarts_; }
  /// Of the restart that is about to be, or was the last.
  RestartCause cause() const { return cause_; }
  /// Restarts that are left for failures of the command.
  std::size_t left() const { return limits_.restarts - failures_; }
  /// So many short tries in a row are the end. A command that has run for long has more of them: what it
  /// needs, such as storage, may be away for minutes.
  std::size_t most_short_tries() const { return has_run_long_ ? kShortTriesOfProven : kShortTries; }
  /// Hosts that did not answer for a minute since the last try.
  const std::vector<std::size_t>& missing() const { return missing_; }
  /// When podrun stops waiting for hosts; none: never.
  std::optional<run::TimePoint> waits_until() const;
  /// The time that is left for a try; none: any.
  std::optional<std::chrono::milliseconds> time_left(run::TimePoint now) const;
  const RestartLimits& limits() const { return limits_; }

 private:
  std::optional<step::Over> end_of(const event::TryEnded& ended, run::TimePoint now) const;
  std::optional<step::Over> end_said_by_hosts(const std::vector<HostAfterTry>& hosts) const;
  RestartStep handle(const event::TryEnded& ended);
  RestartStep handle(const event::Surveyed& surveyed);
  RestartStep handle(const event::Prepared& prepared);
  step::Survey survey(run::TimePoint at, bool stops_nothing);
  RestartStep handle(const event::RestartInterrupted& interrupted);
  void note_missing(const std::vector<HostAfterTry>& hosts);
  RestartCause judge(const std::vector<HostAfterTry>& hosts) const;
  RestartStep decide(RestartCause cause);
  bool is_late(run::TimePoint now) const;

  const RestartLimits limits_;
  const run::TimePoint begun_at_;
  run::TimePoint now_ = begun_at_;
  std::size_t restarts_ = 0;
  std::size_t failures_ = 0;      ///< of the command, in a row
  std::size_t short_tries_ = 0;   ///< in a row
  bool has_worked_ = false;       ///< a try ran for longer than a short one
  bool stopped_nothing_ = false;  ///< the last survey stopped no process
  bool has_run_long_ = false;     ///< for RestartLimits::reset
  std::deque<run::TimePoint> losses_ = {};
  RestartCause cause_ = RestartCause::none;
  bool decided_ = false;  ///< how the last try counts: it is about to start again
  event::TryEnded ended_ = {};
  run::TimePoint ended_at_ = begun_at_;
  run::TimePoint waits_since_ = begun_at_;        ///< for hosts
  std::vector<run::TimePoint> answered_at_ = {};  ///< each host, or had not yet been asked
  std::vector<std::size_t> missing_ = {};
};

}  // namespace podrun::restarts
