// SPDX-License-Identifier: Apache-2.0
// Random runs: hosts, people and a clock that do what they like, an executor that behaves.
#include <algorithm>
#include <csignal>
#include <random>

#include <gtest/gtest.h>

#include "podrun/report/summary.hpp"
#include "podrun/run/run_policy.hpp"

namespace podrun::run {
namespace {

using namespace std::chrono_literals;

/// One host as the executor knows it.
struct SimulatedHost {
  enum class Phase { waiting, connecting, ready, running, exited, over };

  Phase phase = Phase::waiting;
  bool reading_paused = false;
  bool stuck = false;  ///< does nothing until it is abandoned
  bool told_to_go = false;
  bool abandoned = false;  ///< its last event is on its way
  bool still_arriving = false;
  bool lingers = false;
  bool cancelled = false;  ///< abandoned for the sake of others
  bool given_up = false;   ///< abandoned by Ctrl-C, while it was late
  bool asks = false;
  bool was_ready = false;
  std::size_t attempts = 0;
  std::size_t failed_attempt = 0;  ///< the last, if it is not ready since; 0: none
  TimePoint not_before;            ///< the next attempt
};
using Phase = SimulatedHost::Phase;

class Simulation {
 public:
  explicit Simulation(unsigned seed) : random_(seed), limits_(random_limits()), hosts_(1 + pick(6)) {
    for (SimulatedHost& host : hosts_) host.stuck = chance(10);
  }

  void run() {
    RunPolicy policy(hosts_.size(), limits_, random_());
    policy_ = &policy;
    happen(event::Begin{});
    for (std::size_t step = 0; step < 200 && going(); ++step) something_happens();
    interrupts_ = false;
    if (suspended_) resume();
    for (std::size_t step = 0; step < 1000 && going(); ++step) {
      if (waits_ && !released_) release();
      if (!host_acts(pick(hosts_.size()))) next_tick();
    }
    if (!left_) check_end();
  }

 private:
  bool going() const {
    return !left_ && !(policy_->finished() && everyone_is_over()) && !testing::Test::HasFailure();
  }
  bool everyone_is_over() const {
    return std::all_of(hosts_.begin(), hosts_.end(), [](const SimulatedHost& host) {
      return host.phase == Phase::over || host.phase == Phase::waiting;
    });
  }

  std::size_t pick(std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_);
  }
  bool chance(std::size_t percent) { return pick(100) < percent; }

  Limits random_limits() {
    Limits limits;
    limits.fanout = 1 + pick(4);
    limits.serial = pick(4);
    limits.connect_timeout = std::chrono::seconds(1 + pick(10));
    limits.retries = pick(4);
    if (chance(50)) limits.timeout = std::chrono::seconds(1 + pick(20));
    limits.grace = std::chrono::seconds(pick(10));
    limits.on_unreachable = chance(50) ? OnUnreachable::skip : OnUnreachable::stop;
    limits.questions = chance(50) ? Questions::can_be_asked : Questions::none;
    limits.on_failure = chance(50) ? OnFailure::stop_others : OnFailure::go_on;
    limits.held = chance(25);
    limits.retries_timeouts = chance(50);
    if (chance(50)) limits.late_after = std::chrono::seconds(1 + pick(8));
    return limits;
  }

  void something_happens() {
    const std::size_t what = pick(100);
    if (what < 3 && interrupts_) {
      const int signals[] = {SIGINT, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE};
      interrupt(signals[pick(6)]);
    } else if (what < 6) {
      suspended_ ? resume() : suspend();
    } else if (what < 15) {
      now_ += std::chrono::milliseconds(pick(5000));
      happen(event::Tick{});
    } else if (what < 25) {
      next_tick();
    } else if (what < 30 && waits_ && !released_) {
      release();
    } else {
      host_acts(pick(hosts_.size()));
    }
  }
  void interrupt(int signal) {
    const bool gives_up = signal == SIGINT && offered_ && is_any_on_its_way();
    offered_ = offered_ && signal != SIGINT;
    gives_up_ = gives_up_ || gives_up;
    const auto before = policy_->interrupted_by();
    happen(event::Interrupted{signal});
    if (!gives_up) return;
    EXPECT_EQ(policy_->interrupted_by(), before);
    for (std::size_t host = 0; host < hosts_.size(); ++host)
      EXPECT_TRUE(!is_on_its_way(host) || hosts_[host].given_up) << "host " << host;
  }
  bool is_on_its_way(std::size_t host) const {
    const RunPolicy::State state = policy_->state(host);
    return state == RunPolicy::State::waiting || state == RunPolicy::State::connecting;
  }
  bool is_any_on_its_way() const {
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      if (is_on_its_way(host)) return true;
    }
    return false;
  }
  void release() {
    released_ = true;
    for (SimulatedHost& host : hosts_) {
      if (!host.was_ready) continue;
      host.attempts = host.phase == Phase::waiting ? 0 : 1;
      host.not_before = now_;
    }
    happen(event::Released{});
  }
  void suspend() {
    suspended_ = true;
    happen(event::Suspended{});
    EXPECT_EQ(policy_->deadline(), std::nullopt);
  }
  void resume() {
    suspended_ = false;
    happen(event::Resumed{});
  }
  void next_tick() {
    const auto due = policy_->deadline();
    if (!due) return;
    now_ = std::max(now_, *due);
    happen(event::Tick{});
    EXPECT_TRUE(!policy_->deadline() || *policy_->deadline() > now_);
  }

  /// One step of one host; false when it has none to do.
  bool host_acts(std::size_t index) {
    SimulatedHost& host = hosts_[index];
    if (host.phase == Phase::waiting || host.phase == Phase::over) return false;
    if (host.reading_paused) {
      host.reading_paused = false;
      happen(event::ReadingResumed{index});
      return true;
    }
    if (std::exchange(host.still_arriving, false)) {
      happen(event::StillArriving{index});
      return true;
    }
    if (std::exchange(host.lingers, false)) {
      happen(event::Lingers{index});
      return true;
    }
    if (host.abandoned) return fails(index);
    if (host.stuck) return false;
    if (interrupts_ && chance(10)) {
      host.reading_paused = true;
      happen(event::ReadingPaused{index});
      return true;
    }
    return proceeds(index);
  }
  bool proceeds(std::size_t index) {
    SimulatedHost& host = hosts_[index];
    if (chance(host.phase == Phase::connecting ? 30 : 5)) return fails(index);
    if (host.phase == Phase::connecting) {
      host.phase = Phase::ready;
      host.was_ready = true;
      host.failed_attempt = 0;
      ready_at_ = now_;
      happen(event::Ready{index});
    } else if (host.phase == Phase::running && chance(50)) {
      happen(event::Spoke{index});
    } else if (host.phase == Phase::running) {
      host.phase = Phase::exited;
      host.stuck = chance(20);
      happen(event::Ended{index, random_end()});
    } else if (host.phase == Phase::exited) {
      host.phase = Phase::over;
      happen(event::Closed{index});
    } else {
      return false;
    }
    return true;
  }
  bool fails(std::size_t index) {
    SimulatedHost& host = hosts_[index];
    const Phase phase = std::exchange(host.phase, Phase::over);
    if (phase == Phase::exited) {
      happen(event::Closed{index});
    } else if (host.told_to_go) {
      happen(event::LostHost{index, {link::Stage::running, link::Cause::other, "gone"}});
    } else {
      is_not_ready(index);
    }
    return true;
  }
  void is_not_ready(std::size_t index) {
    SimulatedHost& host = hosts_[index];
    const link::Retry retry = host.cancelled || host.given_up ? link::Retry::no
                              : host.abandoned                ? link::Retry::may_help
                                                              : random_retry();
    const bool timed_out = host.abandoned || chance(20);
    const bool again = retry == link::Retry::may_help && !doomed_ &&
                       (!timed_out || limits_.retries_timeouts || is_tried_while_held(host)) &&
                       (host.attempts <= limits_.retries || is_tried_while_held(host));
    if (!host.cancelled) {
      host.failed_attempt = host.attempts;
      host.asks =
          retry == link::Retry::after_asking && limits_.questions == Questions::can_be_asked && !has_late_;
      doomed_ = doomed_ || host.asks || (!again && limits_.on_unreachable == OnUnreachable::stop);
    }
    const link::Cause cause = timed_out ? link::Cause::timed_out : link::Cause::refused;
    happen(event::NotReady{index, {link::Stage::connecting, cause, "", retry}});
    EXPECT_EQ(host.phase == Phase::waiting, again) << "host " << index;
  }
  bool is_tried_while_held(const SimulatedHost& host) const {
    return limits_.held && !released_ && host.was_ready;
  }
  link::Retry random_retry() {
    const std::size_t what = pick(100);
    return what < 80 ? link::Retry::may_help : what < 95 ? link::Retry::no : link::Retry::after_asking;
  }
  std::variant<link::Exited, link::Signaled> random_end() {
    if (chance(10)) return link::Signaled{SIGKILL};
    return link::Exited{chance(70) ? 0 : 1 + static_cast<int>(pick(255))};
  }

  void happen(const RunEvent& event) {
    const std::vector<HostOutcome> before = policy_->outcomes();
    const auto culprit = policy_->culprit();
    const auto interrupted_by = policy_->interrupted_by();
    for (const Action& action : policy_->on(event, now_)) {
      std::visit([this](const auto& what) { obey(what); }, action);
    }
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      if (!settled_[host]) continue;
      EXPECT_EQ(policy_->outcomes()[host], before[host]) << "of host " << host;
    }
    EXPECT_TRUE(!culprit || policy_->culprit() == culprit);
    EXPECT_TRUE(!interrupted_by || policy_->interrupted_by() == interrupted_by);
    EXPECT_LE(count(Phase::connecting), limits_.fanout);
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      settled_[host] = settled_[host] || hosts_[host].phase == Phase::over;
    }
  }
  std::size_t count(Phase phase) const {
    return static_cast<std::size_t>(std::count_if(
        hosts_.begin(), hosts_.end(), [phase](const SimulatedHost& host) { return host.phase == phase; }));
  }

  void obey(const action::Connect& connect) {
    SimulatedHost& host = hosts_[connect.host];
    EXPECT_EQ(host.phase, Phase::waiting);
    EXPECT_FALSE(host.told_to_go);
    ++host.attempts;
    EXPECT_TRUE(host.attempts <= limits_.retries + 1 || is_tried_while_held(host));
    EXPECT_GE(now_, host.not_before);
    EXPECT_TRUE(!doomed_ || host.attempts == 1) << "no retry for what will not start";
    EXPECT_FALSE(policy_->interrupted_by() || policy_->culprit());
    if (limits_.serial != 0) check_batches_before(connect.host / limits_.serial);
    host.phase = Phase::connecting;
    host.abandoned = false;
    host.stuck = chance(10);
  }
  void obey(const action::ConnectLater& later) {
    SimulatedHost& host = hosts_[later.host];
    EXPECT_EQ(host.phase, Phase::over) << "the last attempt";
    EXPECT_EQ(later.attempt, host.attempts + 1);
    host.phase = Phase::waiting;
    host.not_before = now_ + later.delay;
  }
  void check_batches_before(std::size_t batch) {
    for (std::size_t host = 0; host < batch * limits_.serial; ++host) {
      EXPECT_EQ(hosts_[host].phase, Phase::over);
      const HostOutcome& outcome = policy_->outcomes()[host];
      EXPECT_TRUE(!is_failure(outcome) || (std::holds_alternative<Unreachable>(outcome) &&
                                           limits_.on_unreachable == OnUnreachable::skip));
    }
  }
  void obey(const action::Wait&) {
    EXPECT_TRUE(limits_.held);
    EXPECT_FALSE(std::exchange(waits_, true)) << "it is said once";
    EXPECT_GT(count(Phase::ready), 0U);
    EXPECT_EQ(count(Phase::connecting), 0U);
  }
  void obey(const action::Late& late) {
    EXPECT_TRUE(limits_.late_after && has_late_);
    EXPECT_FALSE(late.hosts.empty());
    EXPECT_FALSE(policy_->interrupted_by() || policy_->culprit());
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      const bool is_late = std::binary_search(late.hosts.begin(), late.hosts.end(), host);
      EXPECT_EQ(is_late, is_on_its_way(host)) << "host " << host;
      EXPECT_TRUE(is_late || policy_->state(host) == RunPolicy::State::done) << "host " << host;
    }
    offered_ = true;
  }
  void obey(const action::Go& go) {
    EXPECT_TRUE(!limits_.held || released_);
    EXPECT_FALSE(go.hosts.empty());
    EXPECT_TRUE(std::is_sorted(go.hosts.begin(), go.hosts.end()));
    EXPECT_EQ(count(Phase::ready), go.hosts.size()) << "everyone who is ready, at once";
    EXPECT_FALSE(doomed_);
    if (limits_.serial == 0 && count(Phase::connecting) + count(Phase::waiting) > 0) {
      EXPECT_TRUE(limits_.late_after && !limits_.held);
      EXPECT_EQ(limits_.on_unreachable, OnUnreachable::skip);
      EXPECT_TRUE(has_late_ || now_ - ready_at_ >= *limits_.late_after);
      has_late_ = true;
    }
    EXPECT_TRUE(has_late_ || count(Phase::connecting) == 0);
    const std::size_t batch = limits_.serial == 0 ? hosts_.size() : limits_.serial;
    const std::size_t begin = go.hosts.front() / batch * batch;
    for (std::size_t host = begin; host < std::min(begin + batch, hosts_.size()); ++host) {
      EXPECT_TRUE(has_late_ || hosts_[host].phase != Phase::waiting) << "an undecided host";
    }
    for (const std::size_t index : go.hosts) {
      SimulatedHost& host = hosts_[index];
      EXPECT_EQ(host.phase, Phase::ready);
      EXPECT_FALSE(std::exchange(host.told_to_go, true)) << "once";
      host.phase = Phase::running;
    }
  }
  void obey(const action::Signal& signal) {
    EXPECT_EQ(hosts_[signal.host].phase, is_lingering(signal.host) ? Phase::exited : Phase::running);
    EXPECT_FALSE(hosts_[signal.host].abandoned && !is_lingering(signal.host));
  }
  void obey(const action::Stop& end) {
    SimulatedHost& host = hosts_[end.host];
    EXPECT_TRUE(host.phase == Phase::running || host.phase == Phase::exited);
    EXPECT_FALSE(host.abandoned && host.phase == Phase::running);
    if (chance(50)) host.stuck = false;
  }
  void obey(const action::Abandon& abandon) {
    SimulatedHost& host = hosts_[abandon.host];
    host.abandoned = true;
    const bool is_cancelled = abandon.failure.cause == link::Cause::cancelled;
    host.given_up = is_cancelled && !abandon.failure.detail.empty();
    host.cancelled = is_cancelled && !host.given_up;
    EXPECT_TRUE(!host.given_up || gives_up_);
    EXPECT_EQ(abandon.failure.retry == link::Retry::may_help,
              host.phase == Phase::connecting && !is_cancelled);
  }
  void obey(const action::LetGo& let_go) {
    EXPECT_EQ(hosts_[let_go.host].phase, Phase::exited);
    EXPECT_FALSE(hosts_[let_go.host].reading_paused);
    EXPECT_EQ(let_go.hurried, policy_->presses() >= 2);
    if (chance(50)) {
      hosts_[let_go.host].lingers = true;
    } else if (!let_go.hurried && interrupts_ && chance(50)) {
      hosts_[let_go.host].still_arriving = true;
    } else {
      hosts_[let_go.host].abandoned = true;
    }
  }
  bool is_lingering(std::size_t host) const { return policy_->state(host) == RunPolicy::State::lingering; }
  void obey(const action::Leave&) {
    EXPECT_TRUE(policy_->interrupted_by());
    left_ = true;
  }

  void check_end() {
    // A command, or a process that it left, may run forever when no time limit is set.
    const bool endless = !limits_.timeout && !policy_->interrupted_by() &&
                         std::any_of(hosts_.begin(), hosts_.end(), [](const SimulatedHost& host) {
                           return (host.phase == Phase::running || host.phase == Phase::exited) && host.stuck;
                         });
    if (endless) return;
    EXPECT_TRUE(policy_->finished());
    EXPECT_EQ(policy_->deadline(), std::nullopt);
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      const HostOutcome& outcome = policy_->outcomes()[host];
      const bool none =
          std::holds_alternative<NotStarted>(outcome) || std::holds_alternative<Unreachable>(outcome);
      EXPECT_EQ(none, !hosts_[host].told_to_go) << report::describe(outcome);
      const auto* unreachable = std::get_if<Unreachable>(&outcome);
      if (!none) continue;
      EXPECT_EQ(unreachable ? unreachable->attempts : 0, hosts_[host].failed_attempt);
    }
    check_barrier();
  }
  void check_barrier() {
    const std::size_t batch = limits_.serial == 0 ? hosts_.size() : limits_.serial;
    for (std::size_t begin = 0; begin < hosts_.size(); begin += batch) {
      bool hindered = false;
      bool started = false;
      std::size_t connected = 0;
      const std::size_t end = std::min(begin + batch, hosts_.size());
      for (std::size_t host = begin; host < end; ++host) {
        hindered = hindered || hosts_[host].asks ||
                   (limits_.on_unreachable == OnUnreachable::stop &&
                    std::holds_alternative<Unreachable>(policy_->outcomes()[host]));
        started = started || hosts_[host].told_to_go;
        connected += hosts_[host].attempts > 0 ? 1 : 0;
      }
      EXPECT_FALSE(hindered && started);
      EXPECT_TRUE(connected == 0 || connected == end - begin || policy_->interrupted_by() || gives_up_ ||
                  (has_late_ && policy_->culprit()))
          << "all are tried";
    }
  }

  std::mt19937 random_;
  Limits limits_;
  std::vector<SimulatedHost> hosts_;
  std::vector<bool> settled_ = std::vector<bool>(hosts_.size());  ///< their last event has been told
  RunPolicy* policy_ = nullptr;
  TimePoint now_{1h};
  bool suspended_ = false;
  bool waits_ = false;
  bool released_ = false;
  bool interrupts_ = true;
  bool doomed_ = false;        ///< the present batch
  TimePoint ready_at_ = now_;  ///< the last host
  bool has_late_ = false;
  bool offered_ = false;   ///< to give late hosts up
  bool gives_up_ = false;  ///< late hosts were given up
  bool left_ = false;
};

TEST(RunPolicyProperty, HoldsInAnyRun) {
  for (unsigned seed = 0; seed < 5000 && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Simulation(seed).run();
  }
}

}  // namespace
}  // namespace podrun::run
