// SPDX-License-Identifier: Apache-2.0
#include "podrun/run/countdowns.hpp"

namespace podrun {

void Countdowns::start(std::size_t host, TimePoint::duration time, TimePoint now) {
  Countdown& countdown = countdowns_[host];
  const bool stands_still = countdown.held || suspended_;
  set_due(host, stands_still ? std::nullopt : std::optional(now + time));
  countdown.left_when_paused = stands_still ? std::optional(time) : std::nullopt;
}

void Countdowns::clear(std::size_t host) {
  set_due(host, std::nullopt);
  countdowns_[host].left_when_paused.reset();
}

void Countdowns::hold(std::size_t host, TimePoint now) {
  countdowns_[host].held = true;
  pause(host, now);
}

void Countdowns::release(std::size_t host, TimePoint now) {
  countdowns_[host].held = false;
  if (!suspended_) go_on(host, now);
}

void Countdowns::suspend(TimePoint now) {
  suspended_ = true;
  for (std::size_t host = 0; host < countdowns_.size(); ++host) pause(host, now);
}

void Countdowns::unsuspend(TimePoint now) {
  suspended_ = false;
  for (std::size_t host = 0; host < countdowns_.size(); ++host) {
    if (!countdowns_[host].held) go_on(host, now);
  }
}

std::optional<TimePoint> Countdowns::next() const {
  return by_time_.empty() ? std::nullopt : std::optional(by_time_.begin()->first);
}

std::optional<std::size_t> Countdowns::take_due(TimePoint now) {
  if (by_time_.empty() || by_time_.begin()->first > now) return std::nullopt;
  const std::size_t host = by_time_.begin()->second;
  clear(host);
  return host;
}

void Countdowns::set_due(std::size_t host, std::optional<TimePoint> due) {
  std::optional<TimePoint>& current = countdowns_[host].due;
  if (current) by_time_.erase({*current, host});
  if (due) by_time_.insert({*due, host});
  current = due;
}

void Countdowns::pause(std::size_t host, TimePoint now) {
  Countdown& countdown = countdowns_[host];
  if (!countdown.due) return;
  countdown.left_when_paused = *countdown.due - now;
  set_due(host, std::nullopt);
}

void Countdowns::go_on(std::size_t host, TimePoint now) {
  Countdown& countdown = countdowns_[host];
  if (!countdown.left_when_paused) return;
  set_due(host, now + *countdown.left_when_paused);
  countdown.left_when_paused.reset();
}

}  // namespace podrun
