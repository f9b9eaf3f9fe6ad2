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

#include "podrun/base/duration.hpp"
#include "podrun/run/countdowns.hpp"
#include "podrun/run/outcome.hpp"

// Decides everything about a run and does nothing itself: events and the time go in, actions for the fan-out
// come out.
namespace podrun::run {

enum class OnUnreachable { stop, skip };
/// Whether the user can be asked when a host's failure is Retry::after_asking; then nothing starts before.
enum class Questions { none, can_be_asked };
enum class OnFailure { go_on, stop_others };

struct Limits {
  std::size_t fanout = 128;                  ///< hosts that connect at the same time
  std::size_t serial = 0;                    ///< hosts of one batch; 0: all
  std::chrono::seconds connect_timeout{10};  ///< of one attempt
  std::size_t retries = 2;                   ///< further attempts, where Retry::may_help
  /// The longest wait before the first of them; twice that before each further one, but at most 8 s.
  std::chrono::milliseconds retry_delay{1000};
  /// Instead of `retries`: attempts go on for this long, also while a host answers but is not up yet.
  std::optional<std::chrono::seconds> wait = std::nullopt;
  std::optional<std::chrono::seconds> timeout = std::nullopt;
  std::chrono::seconds grace = kDefaultGrace;
  OnUnreachable on_unreachable = OnUnreachable::stop;
  Questions questions = Questions::none;
  OnFailure on_failure = OnFailure::go_on;
  /// Whether the command of one host may wait for those of others, so that it is stopped when theirs may
  /// never have started.
  bool may_wait_for_each_other = true;
  /// Hosts that are being prepared do not count for `fanout`: they wait for others, or for a job to end.
  bool prepares_all_at_once = false;
  /// A preparation that is interrupted goes on where it was: a host that was reached once is tried again for
  /// as long as that may help.
  bool resumes = false;
  /// Whether the commands start only after event::Released, and not as soon as every host is ready. Until
  /// then a host that was ready is tried again for as long as that may help.
  bool held = false;
};

/// Events. `host` is an index into the hosts of the run.
namespace event {
struct Begin {};
struct Reached {
  std::size_t host;
};  ///< the supervisor is up, and the host is being prepared, which may take any time
struct Ready {
  std::size_t host;
};  ///< the supervisor waits for go
struct NotReady {
  std::size_t host;
  link::Failure failure;
};
struct Spoke {
  std::size_t host;
};  ///< its command has printed something for the first time
struct Ended {
  std::size_t host;
  std::variant<link::Exited, link::Signaled> end;
};  ///< the command has ended; its output may go on
struct Closed {
  std::size_t host;
};  ///< its output is complete
struct StillArriving {
  std::size_t host;
};  ///< in answer to LetGo: more of its output is on its way
struct Lingers {
  std::size_t host;
};  ///< in answer to LetGo: processes that its command left, and that can be signalled, have its output open
struct LostHost {
  std::size_t host;
  link::Failure failure;
};
struct ReadingPaused {
  std::size_t host;
};  ///< podrun does not read from it: no timer runs against it
struct ReadingResumed {
  std::size_t host;
  TimePoint::duration by_reader = TimePoint::duration::max();  ///< how long the reader of the output took
};
struct Released {};   ///< the commands of a held run may start
struct Cancelled {};  ///< a held run is not wanted any more
struct Suspended {};  ///< podrun itself is about to be suspended (Ctrl-Z)
struct Resumed {};
struct Interrupted {
  int signal;
};               ///< SIGINT, SIGQUIT, SIGTERM, SIGHUP; SIGPIPE: a closed reader
struct Tick {};  ///< deadline() has come
}  // namespace event
using RunEvent =
    std::variant<event::Begin, event::Reached, event::Ready, event::NotReady, event::Spoke, event::Ended,
                 event::Closed, event::StillArriving, event::Lingers, event::LostHost, event::ReadingPaused,
                 event::ReadingResumed, event::Released, event::Cancelled, event::Suspended, event::Resumed,
                 event::Interrupted, event::Tick>;

/// Actions.
namespace action {
struct Connect {
  std::size_t host;
};  ///< an attempt of its own
struct ConnectLater {
  std::size_t host;
  std::size_t attempt;  ///< the next one; the first was 1
  std::chrono::milliseconds delay;
  link::Failure failure;
};  ///< the last attempt is over and can be dropped; Connect follows
struct Go {
  std::vector<std::size_t> hosts;
};               ///< all at once
struct Wait {};  ///< all hosts of a held run are ready or have failed, for the first time
struct Signal {
  std::size_t host;
  int signal;
};  ///< SIGINT or SIGQUIT, to the command or what it left
struct Stop {
  std::size_t host;
};  ///< TERM, grace, KILL
struct Abandon {
  std::size_t host;
  link::Failure failure;
};  ///< a failure without a stage gets the host's present one
struct LetGo {
  std::size_t host;
  bool hurried;   ///< even if more of its output is on its way: a second Ctrl-C
};                ///< the command ended and its output is still open; StillArriving or Lingers prevents it
struct Leave {};  ///< exit at once
}  // namespace action
using Action = std::variant<action::Connect, action::ConnectLater, action::Go, action::Wait, action::Signal,
                            action::Stop, action::Abandon, action::LetGo, action::Leave>;

class RunPolicy {
 public:
  /// waiting: for its turn or the next attempt; lingering: the command has ended, and processes that it left
  /// have its output open; closing: it has ended, and its output goes on; stopping: told to stop it.
  enum class State { waiting, connecting, ready, running, lingering, closing, stopping, done };

  /// `seed`: for the delays of the retries, which differ so that not all hosts are tried again at once.
  RunPolicy(std::size_t hosts, const Limits& limits, std::uint64_t seed);

  std::vector<Action> on(const RunEvent& event, TimePoint now);
  /// When the next Tick is due.
  std::optional<TimePoint> deadline() const { return countdowns_.next(); }

  State state(std::size_t host) const { return hosts_[host].state; }
  bool finished() const { return count(State::done) == hosts_.size(); }
  const std::vector<HostOutcome>& outcomes() const { return outcomes_; }
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
    bool was_ready = false;    ///< the same
    bool spoke = false;
    bool ended = false;  ///< its command has ended; the output may go on
    /// The command ended while the host was being told to stop it, perhaps by itself. Then processes that it
    /// left still run.
    bool stop_again = false;
    std::optional<TimePoint::duration> time_left = std::nullopt;  ///< of --timeout, when the command ended
    TimePoint::duration look_after{};                             ///< the time that is counted now
  };

  void handle(const event::Begin&);
  void handle(const event::Reached& event);
  void handle(const event::Ready& event);
  void handle(const event::NotReady& event);
  void handle(const event::Spoke& event);
  void handle(const event::Ended& event);
  void handle(const event::Closed& event);
  void handle(const event::StillArriving& event);
  void handle(const event::Lingers& event);
  void handle(const event::LostHost& event);
  void handle(const event::ReadingPaused& event);
  void handle(const event::ReadingResumed& event);
  void handle(const event::Released&);
  void handle(const event::Cancelled&);
  void handle(const event::Suspended&);
  void handle(const event::Resumed&);
  void handle(const event::Interrupted& event);
  void handle(const event::Tick&);

  void advance();
  void begin_batch();
  void connect_more();
  bool is_fanout_reached() const;
  bool may_try_again(const HostState& host, const link::Failure& failure) const;
  std::chrono::milliseconds retry_delay(std::size_t attempts);
  void connect_later(std::size_t host, const link::Failure& failure);
  void give_up(std::size_t host, const link::Failure& failure);
  void settle_batch();
  void start_batch();
  void cancel_unstarted();
  void cancel(std::size_t host);
  void stop_running();
  void stop(std::size_t host);
  void finish(std::size_t host);
  void fail(std::size_t host);
  void blame(std::size_t host);
  /// True: --timeout is over for it, and it is being stopped.
  bool expire(std::size_t host);
  void signal_running(int signal);
  void let_go_of_closing();
  void look_after(std::size_t host, TimePoint::duration time);
  bool look(std::size_t host);  ///< as expire()

  std::size_t count(State state) const { return counts_[static_cast<std::size_t>(state)]; }
  void set_state(std::size_t host, State state);
  void count_down(std::size_t host, TimePoint::duration time) { countdowns_.start(host, time, now_); }

  Limits limits_;
  std::mt19937_64 random_;  ///< for retry_delay()
  std::vector<HostState> hosts_;
  std::array<std::size_t, kStates> counts_{};  ///< hosts in each state
  std::size_t reached_ = 0;                    ///< hosts that are being prepared
  Countdowns countdowns_;
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
  bool doomed_ = false;     ///< the present batch will not start
  bool failed_ = false;     ///< a command failed: no further batch
  bool cancelled_ = false;  ///< nothing more is started
  bool waits_ = false;      ///< action::Wait was given
};

}  // namespace podrun::run
