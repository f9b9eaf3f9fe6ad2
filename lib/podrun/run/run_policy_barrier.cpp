// SPDX-License-Identifier: Apache-2.0
// The state machine of a run up to the start of its commands: batches, attempts to connect, the barrier.
#include <algorithm>
#include <utility>

#include "podrun/link/turned_away.hpp"
#include "podrun/run/run_policy.hpp"

namespace podrun::run {

void RunPolicy::begin_batch() {
  batch_begin_ = batch_end_;
  const std::size_t left = hosts_.size() - batch_begin_;
  batch_end_ += limits_.serial == 0 ? left : std::min(limits_.serial, left);
  for (std::size_t host = batch_begin_; host < batch_end_; ++host) turns_.push_back(host);
}

void RunPolicy::connect_more() {
  while (!turns_.empty() && !is_fanout_reached()) {
    const std::size_t host = turns_.front();
    turns_.pop_front();
    if (hosts_[host].state != State::waiting) continue;
    set_state(host, State::connecting);
    ++hosts_[host].attempts;
    count_down(host, limits_.connect_timeout);
    actions_.emplace_back(action::Connect{host});
  }
}

bool RunPolicy::is_fanout_reached() const {
  const std::size_t prepared = limits_.prepares_all_at_once ? reached_ : 0;
  return count(State::connecting) - prepared >= limits_.fanout;
}

bool RunPolicy::may_try_again(const HostState& host, const link::Failure& failure) const {
  const bool may_help = failure.retry == link::Retry::may_help;
  // If the host was reached before, a connection that the server ends counts as lost.
  const bool is_cut =
      may_help || failure.cause == link::Cause::closed || failure.cause == link::Cause::transport_ended;
  // An answer of the host is final; a lost connection is not.
  const bool is_answer = failure.stage.own() && failure.stage.own()->is_answer;
  if (limits_.resumes && host.was_reached)
    return is_cut || ((host.reached || host.state == State::ready) && !is_answer &&
                      failure.cause != link::Cause::flood);
  if (limits_.held && host.was_ready) return is_cut && !doomed_;
  const bool is_worth_it = limits_.retries_timeouts || failure.cause != link::Cause::timed_out;
  if (!limits_.wait) return may_help && is_worth_it && host.attempts <= limits_.retries && !doomed_;
  return (may_help || failure.stage == link::Stage::starting_shell) && now_ < wait_end();
}

/// Of Limits::wait.
TimePoint RunPolicy::wait_end() const {
  return *limits_.wait == kForever ? TimePoint::max() : begun_at_ + *limits_.wait;
}

/// The delay after this many attempts: random, so that not all hosts are tried again at once, between half of
/// the longest delay and all of it. The longest delay doubles with every attempt.
std::chrono::milliseconds RunPolicy::retry_delay(std::size_t attempts) {
  constexpr std::chrono::milliseconds kLongest{8000};
  std::chrono::milliseconds longest = limits_.retry_delay;
  for (std::size_t i = 1; i < attempts && longest < kLongest; ++i) longest *= 2;
  longest = std::min(longest, kLongest);
  std::uniform_int_distribution<std::chrono::milliseconds::rep> distribution(longest.count() / 2,
                                                                             longest.count());
  return std::chrono::milliseconds(distribution(random_));
}

void RunPolicy::connect_later(std::size_t host, const link::Failure& failure) {
  const std::size_t attempts = hosts_[host].attempts;
  std::chrono::milliseconds delay = retry_delay(attempts);
  // Two to four times as long: sshd may be busy. Then 18 s more: it may turn this address away for 15 to 20
  // s.
  if (link::is_turned_away(failure)) delay = attempts == 1 ? 4 * delay : delay + 18 * limits_.retry_delay;
  if (limits_.wait) delay = std::min(delay, std::chrono::ceil<std::chrono::milliseconds>(wait_end() - now_));
  set_state(host, State::waiting);
  count_down(host, delay);
  actions_.emplace_back(action::ConnectLater{host, attempts + 1, delay, failure});
}

/// Once the batch cannot start, no host is retried or prepared any further. First attempts continue, so that
/// the final report names every host that cannot be reached.
void RunPolicy::give_up(std::size_t host, const link::Failure& failure) {
  finish(host);
  const bool asks =
      failure.retry == link::Retry::after_asking && limits_.questions == Questions::can_be_asked && !splits_;
  if (limits_.on_unreachable == OnUnreachable::skip && !asks) return;
  if (std::exchange(doomed_, true)) return;
  for (std::size_t other = batch_begin_; other < batch_end_; ++other) {
    if (hosts_[other].state == State::waiting && hosts_[other].attempts > 0) finish(other);
    if (hosts_[other].state == State::connecting && hosts_[other].reached) cancel(other);
  }
}

/// The barrier: when every host of the batch is ready or has failed, it starts or is given up; when it has
/// ended, the next one begins.
void RunPolicy::advance_batch() {
  if (splits_ && count(State::ready) > 0) start_batch();
  if (count(State::ready) + count(State::done) < batch_end_) return;  // some are on their way, or running
  if (failed_ || doomed_) {
    cancel_unstarted();
  } else if (count(State::ready) > 0 && limits_.held) {
    if (!std::exchange(waits_, true)) actions_.emplace_back(action::Wait{});
  } else if (count(State::ready) > 0) {
    start_batch();
  } else if (batch_end_ < hosts_.size()) {
    begin_batch();
    advance();
  }
}

void RunPolicy::start_batch() {
  started_at_ = now_;
  action::Go go;
  for (std::size_t host = batch_begin_; host < batch_end_; ++host) {
    if (hosts_[host].state != State::ready) continue;
    set_state(host, State::running);
    if (limits_.timeout) count_down(host, *limits_.timeout);
    go.hosts.push_back(host);
  }
  actions_.emplace_back(std::move(go));
}

void RunPolicy::cancel_unstarted() {
  cancelled_ = true;
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    const State state = hosts_[host].state;
    if (state == State::connecting || state == State::ready) cancel(host);
    if (state == State::waiting) finish(host);
  }
}

void RunPolicy::cancel(std::size_t host) {
  actions_.emplace_back(action::Abandon{host, {.cause = link::Cause::cancelled}});
  finish(host);
}

}  // namespace podrun::run
