// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <variant>
#include <vector>

#include "podrun/base/defaults.hpp"
#include "podrun/run/countdowns.hpp"
#include "podrun/run/outcome.hpp"

// The decisions of a run, without their effects: events and the time go in, actions for the fan-out come out.
namespace podrun::run {

enum class OnUnreachable { stop, skip };
/// Whether the user can be asked if a host's failure is Retry::after_asking; then nothing starts before the
/// answer.
enum class Questions { none, can_be_asked };
enum class OnFailure { go_on, stop_others };
/// For Limits::wait: attempts never end.
inline constexpr std::chrono::seconds kForever = std::chrono::seconds::max();

struct Limits {
  std::size_t fanout = 128;                  ///< hosts that connect at the same time
  std::size_t serial = 0;                    ///< hosts of one batch; 0: all
  std::chrono::seconds connect_timeout{10};  ///< of one attempt
  std::size_t retries = 2;                   ///< further attempts, where Retry::may_help
  bool retries_timeouts = true;              ///< also where an attempt has timed out, which takes long
  /// The longest delay before the first retry; it doubles for each further retry, up to 8 s.
  std::chrono::milliseconds retry_delay{1000};
  /// Instead of `retries`: attempts go on for this long, also while a host answers but is not up yet.
  std::optional<std::chrono::seconds> wait = std::nullopt;
  std::optional<std::chrono::milliseconds> timeout = std::nullopt;
  std::chrono::seconds grace = kDefaultGrace;
  OnUnreachable on_unreachable = OnUnreachable::stop;
  Questions questions = Questions::none;
  OnFailure on_failure = OnFailure::go_on;
  /// Whether commands may wait for each other, so that all are stopped if one may never have started.
  bool may_wait_for_each_other = true;
  /// Hosts that are being prepared do not count for `fanout`: they wait for others, or for a job to end.
  bool prepares_all_at_once = false;
  /// How long after a signal hosts may go on before podrun leaves them; none: as a user's command may need.
  /// With it the first press of Ctrl-C acts as the second: nothing of the user's runs that could answer it.
  std::optional<std::chrono::milliseconds> patience = std::nullopt;
  /// An interrupted preparation continues where it was: a host that was reached once is tried again as long
  /// as that may help.
  bool resumes = false;
  /// Whether the commands start only after event::Released, not as soon as every host is ready. Until then a
  /// host that was ready is tried again as long as that may help.
  bool held = false;
  /// With OnUnreachable::skip alone: hosts on their way are late once no host has become ready, failed or
  /// ended for this long. The ready ones start without them, and late ones as soon as they are ready.
  std::optional<std::chrono::milliseconds> late_after = std::nullopt;
};

/// An event, action or notice about one host: an index into the hosts of the run. `Name` makes the type
/// unique.
template <typename Name>
struct OfHost {
  std::size_t host;
};

/// Events. `host` is an index into the hosts of the run.
namespace event {
struct Begin {};
/// The supervisor is up, and the host is being prepared, which may take any time.
using Reached = OfHost<struct ReachedOfHost>;
/// The supervisor waits for go.
using Ready = OfHost<struct ReadyOfHost>;
struct NotReady {
  std::size_t host;
  link::Failure failure;
};
/// The command has printed something for the first time.
using Spoke = OfHost<struct SpokeOfHost>;
/// The command has ended; its output may go on.
struct Ended {
  std::size_t host;
  std::variant<link::Exited, link::Signaled> end;
};
/// The output is complete.
using Closed = OfHost<struct ClosedOfHost>;
/// The answer to LetGo if more output is on its way.
using StillArriving = OfHost<struct StillArrivingOfHost>;
/// The answer to LetGo if processes that the command left, and that can be signalled, have its output open.
using Lingers = OfHost<struct LingersOfHost>;
struct LostHost {
  std::size_t host;
  link::Failure failure;
};
/// podrun does not read from the host: no timer runs against it.
using ReadingPaused = OfHost<struct ReadingPausedOfHost>;
struct ReadingResumed {
  std::size_t host;
  TimePoint::duration by_reader = TimePoint::duration::max();  ///< how long the reader of the output took
};
/// These hosts have printed nothing for too long, and what they do was looked at.
struct Stalled {
  std::vector<std::size_t> hosts;
  std::chrono::seconds silent;
};
/// The commands of a held run may start.
struct Released {};
/// A held run is no longer wanted.
struct Cancelled {};
/// podrun itself is about to be suspended (Ctrl-Z).
struct Suspended {};
struct Resumed {};
/// SIGINT, SIGQUIT, SIGTERM, SIGHUP; SIGPIPE: a closed reader.
struct Interrupted {
  int signal;
};
/// The time of deadline() has come.
struct Tick {};
}  // namespace event
using RunEvent =
    std::variant<event::Begin, event::Reached, event::Ready, event::NotReady, event::Spoke, event::Ended,
                 event::Closed, event::StillArriving, event::Lingers, event::LostHost, event::ReadingPaused,
                 event::ReadingResumed, event::Stalled, event::Released, event::Cancelled, event::Suspended,
                 event::Resumed, event::Interrupted, event::Tick>;

/// Actions.
namespace action {
/// Start an attempt.
using Connect = OfHost<struct ConnectOfHost>;
/// The last attempt is over and can be dropped; Connect follows.
struct ConnectLater {
  std::size_t host;
  std::size_t attempt;  ///< the next one; the first was 1
  std::chrono::milliseconds delay;
  link::Failure failure;
};
/// Start the commands of these hosts at once.
struct Go {
  std::vector<std::size_t> hosts;
};
/// All hosts of a held run are ready or have failed, for the first time.
struct Wait {};
/// Only these late hosts have not started, and the commands of all others are over. From now on Ctrl-C goes
/// on without late hosts.
struct Late {
  std::vector<std::size_t> hosts;
};
/// Send SIGINT or SIGQUIT to the command or to processes that it left.
struct Signal {
  std::size_t host;
  int signal;
};
/// Send TERM, and KILL after the grace period.
using Stop = OfHost<struct StopOfHost>;
/// Close the connection. A failure without a stage gets the present stage of the host.
struct Abandon {
  std::size_t host;
  link::Failure failure;
};
/// The command ended and its output is still open: stop waiting for it, unless StillArriving or Lingers
/// answers.
struct LetGo {
  std::size_t host;
  bool hurried;  ///< even if more output is on its way: a second Ctrl-C
};
/// Exit at once.
struct Leave {};
}  // namespace action
using Action = std::variant<action::Connect, action::ConnectLater, action::Go, action::Wait, action::Late,
                            action::Signal, action::Stop, action::Abandon, action::LetGo, action::Leave>;

/// Decides what happens in a run. Pure: neither network nor clock.
class RunPolicy {
 public:
  /// waiting: for its turn or the next attempt; lingering: the command has ended, and processes that it left
  /// have its output open; closing: the command has ended, and its output goes on; stopping: told to stop.
  enum class State { waiting, connecting, ready, running, lingering, closing, stopping, done };

  /// `seed`: for the delays of the retries, which differ so that not all hosts are tried again at once.
  RunPolicy(std::size_t hosts, const Limits& limits, std::uint64_t seed);

  std::vector<Action> on(const RunEvent& event, TimePoint now);
  /// When the next Tick is due.
  std::optional<TimePoint> deadline() const { return countdowns_.next(); }

  State state(std::size_t host) const { return hosts_[host].state; }
  bool finished() const { return count(State::done) == hosts_.size(); }
  const std::vector<HostOutcome>& outcomes() const { return outcomes_; }
  const Limits& limits() const { return limits_; }
  /// The host whose failure stopped the others, if any.
  std::optional<std::size_t> culprit() const { return culprit_; }
  std::optional<int> interrupted_by() const { return interrupted_by_; }
  /// Presses of Ctrl-C so far, and signals that act like it.
  int presses() const { return presses_; }

 private:
  static constexpr std::size_t kStates = static_cast<std::size_t>(State::done) + 1;

  struct HostState {
    State state = State::waiting;
    std::size_t attempts = 0;
    bool reached = false;      ///< it is being prepared
    bool was_reached = false;  ///< in this attempt or an earlier one
    bool was_ready = false;    ///< in this attempt or an earlier one
    bool spoke = false;
    bool ended = false;  ///< its command has ended; the output may go on
    /// The command ended while the host was being told to stop it, perhaps by itself. Then processes that it
    /// left still run.
    bool stop_again = false;
    std::optional<TimePoint::duration> time_left = std::nullopt;  ///< of --timeout, when the command ended
    TimePoint::duration checks_after{};                           ///< the time that is counted now
  };

  void handle(const event::Begin&);
  void handle(const event::Reached& event);
  void handle(const event::Ready& event);
  void handle(const event::NotReady& event);
  void handle(const event::Spoke& event) { hosts_[event.host].spoke = true; }
  void handle(const event::Ended& event);
  void handle(const event::Closed& event) { finish(event.host); }
  void handle(const event::StillArriving& event);
  void handle(const event::Lingers& event);
  void handle(const event::LostHost& event);
  void handle(const event::ReadingPaused& event) { countdowns_.pause_reading(event.host, now_); }
  void handle(const event::ReadingResumed& event);
  void handle(const event::Stalled& event);
  void handle(const event::Released&);
  void handle(const event::Cancelled&) { cancel_unstarted(); }
  void handle(const event::Suspended&) { countdowns_.suspend(now_); }
  void handle(const event::Resumed&) { countdowns_.resume(now_); }
  void handle(const event::Interrupted& event);
  void handle(const event::Tick&);

  void advance();
  void begin_batch();
  void connect_more();
  bool is_fanout_reached() const;
  bool may_try_again(const HostState& host, const link::Failure& failure) const;
  std::chrono::milliseconds retry_delay(std::size_t attempts);
  TimePoint wait_end() const;
  void connect_later(std::size_t host, const link::Failure& failure);
  void give_up(std::size_t host, const link::Failure& failure);
  void advance_batch();
  void start_batch();
  void count_quiet_time();
  void start_without_late();
  void report_late();
  bool give_up_late();
  std::vector<std::size_t> on_their_way() const;
  void cancel_unstarted();
  void cancel(std::size_t host);
  void stop_running();
  void stop(std::size_t host);
  void finish(std::size_t host);
  void fail(std::size_t host);
  void blame(std::size_t host);
  /// Handles the end of the host's countdown. True: its --timeout is over, and it is being stopped.
  bool expire(std::size_t host);
  void signal_running(int signal);
  void let_go_of_closing();
  void check_later(std::size_t host, TimePoint::duration time);
  bool check_output(std::size_t host);  ///< returns like expire()

  std::size_t count(State state) const { return counts_[static_cast<std::size_t>(state)]; }
  void set_state(std::size_t host, State state);
  void count_down(std::size_t host, TimePoint::duration time) { countdowns_.start(host, time, now_); }

  Limits limits_;
  std::mt19937_64 random_;  ///< for retry_delay()
  std::vector<HostState> hosts_;
  std::array<std::size_t, kStates> counts_{};  ///< hosts in each state
  std::size_t reached_ = 0;                    ///< hosts that are being prepared
  Countdowns countdowns_;                      ///< of the hosts; the last one is that of Limits::late_after
  std::deque<std::size_t> turns_;  ///< the order of the attempts; some hosts may have been given up since
  std::vector<HostOutcome> outcomes_;
  std::vector<Action> actions_;
  TimePoint now_;
  std::size_t batch_begin_ = 0;
  std::size_t batch_end_ = 0;
  TimePoint begun_at_;
  std::optional<TimePoint> started_at_;  ///< of the present batch
  std::optional<std::size_t> culprit_;
  std::optional<int> interrupted_by_;
  int presses_ = 0;
  bool doomed_ = false;       ///< the present batch will not start
  bool failed_ = false;       ///< a command failed: no further batch
  bool cancelled_ = false;    ///< nothing more is started
  bool waits_ = false;        ///< action::Wait was asked for
  bool splits_ = false;       ///< there are late hosts: hosts start as they get ready
  bool quiet_ = false;        ///< Limits::late_after is over, and action::Late not asked for since
  bool may_give_up_ = false;  ///< action::Late was asked for, and not answered by Ctrl-C
};

}  // namespace podrun::run
