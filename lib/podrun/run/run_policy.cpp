// SPDX-License-Identifier: Apache-2.0
#include "podrun/run/run_policy.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/duration.hpp"

namespace podrun {
namespace {

/// A command that ended keeps the output open at most so long, when a background child holds it.
constexpr std::chrono::seconds kLetGoAfter{2};
/// What a host may take, beyond the grace, to say that everything there has ended.
constexpr std::chrono::seconds kEndSlack{5};

}  // namespace

RunPolicy::RunPolicy(std::size_t hosts, const Limits& limits)
    : limits_(limits), hosts_(hosts), outcomes_(hosts) {}

std::vector<Action> RunPolicy::on(const RunEvent& event, TimePoint now) {
  now_ = now;
  std::visit([this](const auto& happened) { handle(happened); }, event);
  advance();
  return std::exchange(actions_, {});
}

std::optional<TimePoint> RunPolicy::deadline() const {
  std::optional<TimePoint> first;
  for (const HostState& host : hosts_) {
    if (host.countdown.due && (!first || *host.countdown.due < *first)) first = host.countdown.due;
  }
  return first;
}

bool RunPolicy::finished() const { return count(State::done) == hosts_.size(); }

void RunPolicy::handle(const event::Begin&) { begin_batch(); }

void RunPolicy::handle(const event::Ready& event) {
  HostState& host = hosts_[event.host];
  if (host.state != State::connecting) return;
  host.state = State::ready;
  host.countdown = {};
}

void RunPolicy::handle(const event::NotReady& event) {
  HostState& host = hosts_[event.host];
  if (host.state != State::connecting && host.state != State::ready) return;
  outcomes_[event.host] = Unreachable{event.failure};
  finish(event.host);
}

void RunPolicy::handle(const event::Spoke& event) { hosts_[event.host].spoke = true; }

void RunPolicy::handle(const event::Ended& event) {
  HostState& host = hosts_[event.host];
  if (host.state != State::running) return;
  outcomes_[event.host] = std::visit([](auto end) { return HostOutcome(end); }, event.end);
  host.state = State::closing;
  count_down(event.host, kLetGoAfter);
  fail(event.host);
}

void RunPolicy::handle(const event::Closed& event) { finish(event.host); }

void RunPolicy::handle(const event::LostHost& event) {
  HostState& host = hosts_[event.host];
  if (host.state == State::done) return;
  bool uncertain_start = false;
  if (host.state == State::running) {  // while ending, the end of the connection ends the command too
    outcomes_[event.host] = Lost{event.failure};
    // Perhaps its command never started, and the others would wait for it for ever.
    uncertain_start = !host.spoke && now_ - *started_at_ < limits_.connect_timeout;
  }
  finish(event.host);
  if (uncertain_start) {
    blame(event.host);
  } else {
    fail(event.host);
  }
}

void RunPolicy::handle(const event::Held& event) {
  hosts_[event.host].held = true;
  pause(hosts_[event.host]);
}

void RunPolicy::handle(const event::Released& event) {
  hosts_[event.host].held = false;
  if (!suspended_) resume(hosts_[event.host]);
}

void RunPolicy::handle(const event::Suspended&) {
  suspended_ = true;
  for (HostState& host : hosts_) pause(host);
}

void RunPolicy::handle(const event::Resumed&) {
  suspended_ = false;
  for (HostState& host : hosts_) {
    if (!host.held) resume(host);
  }
}

void RunPolicy::handle(const event::Interrupted& event) {
  if (!interrupted_by_) interrupted_by_ = event.signal;
  const bool only_ending = count(State::running) == 0 && count(State::ending) > 0;
  if (only_ending) presses_ = std::max(presses_, 1);  // there is nothing left for a first press
  presses_ =
      event.signal == SIGINT ? presses_ + 1 : std::max(presses_, 2);  // the others act as the second press
  cancel_unstarted();
  if (event.signal == SIGINT && presses_ >= 3) {
    actions_.emplace_back(action::Leave{});
  } else if (event.signal == SIGINT && presses_ == 1) {
    interrupt_running();
  } else {
    end_running();
  }
}

void RunPolicy::handle(const event::Tick&) {
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    if (hosts_[host].countdown.due && *hosts_[host].countdown.due <= now_) expire(host);
  }
}

void RunPolicy::expire(std::size_t index) {
  HostState& host = hosts_[index];
  host.countdown = {};
  if (host.state == State::connecting) {
    const Failure failure{"", fmt::format("timed out after {}", format_duration(limits_.connect_timeout))};
    actions_.emplace_back(action::Abandon{index, failure});  // comes back as NotReady, with its stage
  } else if (host.state == State::running) {
    outcomes_[index] = TimedOut{*limits_.timeout};
    end(index);
    fail(index);
  } else if (host.state == State::closing) {
    actions_.emplace_back(action::LetGo{index});  // comes back as Closed
  } else if (host.state == State::ending) {
    const std::string what =
        fmt::format("did not end within {} of being told to", format_duration(limits_.grace + kEndSlack));
    if (std::holds_alternative<Stopped>(outcomes_[index])) outcomes_[index] = Lost{{"ending", what}};
    actions_.emplace_back(action::Abandon{index, {"ending", what}});
    finish(index);
  }
}

/// What follows from the states alone: more connections, the start of a batch, the next batch.
void RunPolicy::advance() {
  if (cancelled_) return;
  connect_more();
  settle_batch();
}

void RunPolicy::begin_batch() {
  batch_begin_ = batch_end_;
  const std::size_t left = hosts_.size() - batch_begin_;
  batch_end_ += limits_.serial == 0 ? left : std::min(limits_.serial, left);
}

void RunPolicy::connect_more() {
  std::size_t connecting = count(State::connecting);
  for (std::size_t host = batch_begin_; host < batch_end_ && connecting < limits_.fanout; ++host) {
    if (hosts_[host].state != State::waiting) continue;
    hosts_[host].state = State::connecting;
    count_down(host, limits_.connect_timeout);
    actions_.emplace_back(action::Connect{host});
    ++connecting;
  }
}

/// The barrier: when every host of the batch is ready or has failed, it starts or is given up; when it has
/// ended, the next one begins.
void RunPolicy::settle_batch() {
  std::vector<std::size_t> ready;
  bool unreachable = false;
  bool failed = false;
  for (std::size_t host = batch_begin_; host < batch_end_; ++host) {
    const State state = hosts_[host].state;
    if (state != State::ready && state != State::done) return;  // still on their way, or running
    if (state == State::ready) ready.push_back(host);
    unreachable = unreachable || std::holds_alternative<Unreachable>(outcomes_[host]);
    failed = failed || (is_failure(outcomes_[host]) && !std::holds_alternative<Unreachable>(outcomes_[host]));
  }
  if (failed || (unreachable && limits_.on_unreachable == OnUnreachable::stop)) {
    cancel_unstarted();
  } else if (!ready.empty()) {
    started_at_ = now_;
    for (const std::size_t host : ready) {
      hosts_[host].state = State::running;
      if (limits_.timeout) count_down(host, *limits_.timeout);
    }
    actions_.emplace_back(action::Go{std::move(ready)});
  } else if (batch_end_ < hosts_.size()) {
    begin_batch();
    advance();
  }
}

void RunPolicy::cancel_unstarted() {
  cancelled_ = true;
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    const State state = hosts_[host].state;
    if (state == State::connecting || state == State::ready) {
      actions_.emplace_back(action::Abandon{host, {"", "cancelled"}});
    }
    if (state == State::waiting || state == State::connecting || state == State::ready) finish(host);
  }
}

void RunPolicy::interrupt_running() {
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    if (hosts_[host].state == State::running) actions_.emplace_back(action::Interrupt{host});
    if (hosts_[host].state == State::closing) actions_.emplace_back(action::LetGo{host});
  }
}

void RunPolicy::end_running() {
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    if (hosts_[host].state == State::running) {
      outcomes_[host] = Stopped{};
      end(host);
    } else if (hosts_[host].state == State::closing &&
               host != culprit_) {  // its last lines are still to come
      actions_.emplace_back(action::LetGo{host});
    }
  }
}

void RunPolicy::end(std::size_t host) {
  hosts_[host].state = State::ending;
  count_down(host, limits_.grace + kEndSlack);
  actions_.emplace_back(action::End{host});
}

void RunPolicy::finish(std::size_t host) {
  hosts_[host].state = State::done;
  hosts_[host].countdown = {};
}

/// With --fail-fast the first failure ends the others.
void RunPolicy::fail(std::size_t host) {
  if (limits_.on_failure == OnFailure::end_others && is_failure(outcomes_[host])) blame(host);
}

void RunPolicy::blame(std::size_t host) {
  if (culprit_ || interrupted_by_) return;
  culprit_ = host;
  cancel_unstarted();
  end_running();
}

std::size_t RunPolicy::count(State state) const {
  return static_cast<std::size_t>(std::count_if(
      hosts_.begin(), hosts_.end(), [state](const HostState& host) { return host.state == state; }));
}

void RunPolicy::count_down(std::size_t index, std::chrono::seconds time) {
  HostState& host = hosts_[index];
  host.countdown = {.due = now_ + time, .left_when_paused = std::nullopt};
  if (host.held || suspended_) pause(host);
}

void RunPolicy::pause(HostState& host) const {
  if (!host.countdown.due) return;
  host.countdown.left_when_paused = *host.countdown.due - now_;
  host.countdown.due.reset();
}

void RunPolicy::resume(HostState& host) const {
  if (!host.countdown.left_when_paused) return;
  host.countdown.due = now_ + *host.countdown.left_when_paused;
  host.countdown.left_when_paused.reset();
}

}  // namespace podrun
