// SPDX-License-Identifier: Apache-2.0
// The state machine of a run: each event changes the state of a host or of the run, and asks for actions.
#include "podrun/run/run_policy.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include "podrun/base/expect.hpp"

namespace podrun::run {
namespace {

/// Time from the command's end, or from the last check, until the host is asked which processes hold the
/// output open.
constexpr std::chrono::seconds kLetGoAfter{2};
/// This time while processes that can be signalled hold the output open.
constexpr std::chrono::seconds kLingerCheck{60};
/// Time beyond the grace period for a host to report that everything there has ended.
constexpr std::chrono::seconds kStopSlack{5};

}  // namespace

RunPolicy::RunPolicy(std::size_t hosts, const Limits& limits, std::uint64_t seed)
    : limits_(limits), random_(seed), hosts_(hosts), countdowns_(hosts + 1), outcomes_(hosts) {
  if (limits_.on_unreachable == OnUnreachable::stop || limits_.serial != 0 || limits_.wait || limits_.held)
    limits_.late_after.reset();
  counts_[static_cast<std::size_t>(State::waiting)] = hosts;
}

std::vector<Action> RunPolicy::on(const RunEvent& event, TimePoint now) {
  expect(now >= now_, "the time of a run goes on");
  now_ = now;
  std::visit([this](const auto& happened) { handle(happened); }, event);
  advance();
  if (count(State::waiting) + count(State::connecting) == 0) countdowns_.clear(hosts_.size());
  return std::exchange(actions_, {});
}

void RunPolicy::handle(const event::Begin&) {
  begun_at_ = now_;
  count_quiet_time();
  begin_batch();
}

void RunPolicy::handle(const event::Reached& event) {
  HostState& host = hosts_[event.host];
  if (host.state != State::connecting) return;
  host.reached = true;
  ++reached_;
  host.was_reached = true;
  if (limits_.resumes) host.attempts = 1;
  countdowns_.clear(event.host);
  if (doomed_) cancel(event.host);
}

void RunPolicy::handle(const event::Ready& event) {
  if (hosts_[event.host].state != State::connecting) return;
  set_state(event.host, State::ready);
  countdowns_.clear(event.host);
  outcomes_[event.host] = NotStarted{};  // a retry has helped
  hosts_[event.host].was_ready = true;
}

void RunPolicy::handle(const event::NotReady& event) {
  const HostState& host = hosts_[event.host];
  if (host.state == State::running) handle(event::LostHost{event.host, event.failure});  // Go crossed with it
  if (host.state != State::connecting && host.state != State::ready) return;
  outcomes_[event.host] = Unreachable{event.failure, host.attempts};
  if (may_try_again(host, event.failure)) {
    connect_later(event.host, event.failure);
  } else {
    give_up(event.host, event.failure);
  }
}

void RunPolicy::handle(const event::Ended& event) {
  HostState& host = hosts_[event.host];
  host.ended = true;
  if (host.state == State::stopping) {
    host.stop_again = true;
    count_down(event.host, kLetGoAfter);
  }
  if (host.state != State::running) return;
  outcomes_[event.host] = std::visit([](auto end) { return HostOutcome(end); }, event.end);
  if (limits_.timeout) hosts_[event.host].time_left = countdowns_.left(event.host, now_);
  set_state(event.host, State::closing);
  check_later(event.host, kLetGoAfter);
  fail(event.host);
}

void RunPolicy::handle(const event::StillArriving& event) {
  const State state = hosts_[event.host].state;
  if (state == State::closing || state == State::lingering) check_later(event.host, kLetGoAfter);
}

void RunPolicy::handle(const event::Lingers& event) {
  const State before = hosts_[event.host].state;
  if (before != State::closing && before != State::lingering) return;
  set_state(event.host, State::lingering);
  if (culprit_ || presses_ >= 2) {
    stop(event.host);
    return;
  }
  check_later(event.host, kLingerCheck);
  if (before == State::closing && presses_ == 1) actions_.emplace_back(action::Signal{event.host, SIGINT});
}

void RunPolicy::handle(const event::LostHost& event) {
  const HostState& host = hosts_[event.host];
  // The host was cancelled, but its command may have started: early_go.
  if (host.state == State::done && outcomes_[event.host] == HostOutcome(NotStarted{}))
    outcomes_[event.host] = Stopped{};
  if (host.state == State::done) return;
  bool uncertain_start = false;
  // A host that starts before it is ready (early_go) is still connecting.
  if (host.state == State::connecting) outcomes_[event.host] = Lost{event.failure};
  const bool is_forged = event.failure.cause == link::Cause::second_exit_status &&
                         std::holds_alternative<link::Exited>(outcomes_[event.host]);
  // The processes that linger may do the real work.
  if (is_forged || (host.state == State::lingering && !is_failure(outcomes_[event.host])))
    outcomes_[event.host] = Lost{event.failure};
  if (host.state == State::running) {  // while ending, the end of the connection ends the command too
    outcomes_[event.host] = Lost{event.failure};
    // Its command may never have started. Then the others would wait for it forever.
    uncertain_start =
        limits_.may_wait_for_each_other && !host.spoke && now_ - *started_at_ < limits_.connect_timeout;
  }
  finish(event.host);
  if (uncertain_start) {
    blame(event.host);
  } else {
    fail(event.host);
  }
}

void RunPolicy::handle(const event::ReadingResumed& event) {
  countdowns_.resume_reading(event.host, now_, event.by_reader);
}

void RunPolicy::handle(const event::Released&) {
  limits_.held = false;
  for (std::size_t host = batch_begin_; host < batch_end_; ++host) {
    if (!hosts_[host].was_ready) continue;
    const bool is_waiting = hosts_[host].state == State::waiting;
    hosts_[host].attempts = is_waiting ? 0 : 1;  // earlier attempts do not count
    if (is_waiting) count_down(host, TimePoint::duration::zero());
  }
}

void RunPolicy::handle(const event::Tick&) {
  std::vector<std::size_t> timed_out;
  while (const auto host = countdowns_.take_due(now_)) {
    if (*host == hosts_.size()) {
      start_without_late();
    } else if (expire(*host)) {
      timed_out.push_back(*host);
    }
  }
  // After the loop: with --fail-fast the first of them stops the others, although their time is over as well.
  for (const std::size_t host : timed_out) fail(host);
}

bool RunPolicy::expire(std::size_t index) {
  const HostState& host = hosts_[index];
  if (host.state == State::waiting) {
    turns_.push_back(index);
  } else if (host.state == State::connecting) {
    // NotReady follows, with the stage of the host.
    actions_.emplace_back(action::Abandon{
        index,
        {.cause = link::Cause::timed_out, .retry = link::Retry::may_help, .after = limits_.connect_timeout}});
  } else if (host.state == State::running) {
    outcomes_[index] = TimedOut{*limits_.timeout};
    stop(index);
    return true;
  } else if (host.state == State::closing || host.state == State::lingering) {
    return check_output(index);
  } else if (host.state == State::stopping && std::exchange(hosts_[index].stop_again, false)) {
    stop(index);
  } else if (host.state == State::stopping) {
    const link::Failure failure{
        .stage = link::Stage::ending, .cause = link::Cause::not_ended, .after = limits_.grace + kStopSlack};
    const bool ended =
        host.ended;  // processes that could not be stopped, which the host named, hold the output
    if (!ended && std::holds_alternative<Stopped>(outcomes_[index])) outcomes_[index] = Lost{failure};
    actions_.emplace_back(
        action::Abandon{index, ended ? link::Failure{.cause = link::Cause::let_go} : failure});
    finish(index);
  }
  return false;
}

/// Does what follows from the states alone: more connections, the start of a batch, the next batch.
void RunPolicy::advance() {
  if (cancelled_) return;
  connect_more();
  advance_batch();
  report_late();
}

/// Sets the time of the next check; counts it against --timeout, which here limits only lingering processes.
void RunPolicy::check_later(std::size_t index, TimePoint::duration time) {
  HostState& host = hosts_[index];
  if (host.time_left && host.state == State::lingering)
    time = std::clamp(*host.time_left, TimePoint::duration::zero(), time);
  host.checks_after = time;
  count_down(index, time);
}

/// Checks an output that is still open: asks which processes hold it, or stops them if --timeout is over.
bool RunPolicy::check_output(std::size_t index) {
  HostState& host = hosts_[index];
  if (host.time_left) *host.time_left -= host.checks_after;
  if (host.state == State::lingering && host.time_left && *host.time_left <= TimePoint::duration::zero()) {
    if (!is_failure(outcomes_[index])) outcomes_[index] = TimedOut{*limits_.timeout};
    stop(index);
    return true;
  }
  actions_.emplace_back(action::LetGo{index, presses_ >= 2});
  return false;
}

void RunPolicy::stop(std::size_t host) {
  set_state(host, State::stopping);
  count_down(host, limits_.grace + kStopSlack);
  actions_.emplace_back(action::Stop{host});
}

void RunPolicy::finish(std::size_t host) {
  set_state(host, State::done);
  countdowns_.clear(host);
  const HostOutcome& outcome = outcomes_[host];
  failed_ = failed_ || (is_failure(outcome) && !std::holds_alternative<Unreachable>(outcome));
}

/// With --fail-fast the first failure ends the others.
void RunPolicy::fail(std::size_t host) {
  if (limits_.on_failure == OnFailure::stop_others && is_failure(outcomes_[host])) blame(host);
}

void RunPolicy::blame(std::size_t host) {
  if (culprit_ || interrupted_by_) return;
  culprit_ = host;
  cancel_unstarted();
  stop_running();
}

void RunPolicy::set_state(std::size_t host, State state) {
  if (std::exchange(hosts_[host].reached, false)) --reached_;
  --counts_[static_cast<std::size_t>(hosts_[host].state)];
  ++counts_[static_cast<std::size_t>(state)];
  hosts_[host].state = state;
  if (state == State::ready || state == State::done) count_quiet_time();
}

}  // namespace podrun::run
