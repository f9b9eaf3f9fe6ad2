// SPDX-License-Identifier: Apache-2.0
// The countdown of each host, which freezes while podrun cannot or does not read.
#include "podrun/run/countdowns.hpp"

#include <algorithm>

namespace podrun::run {

void Countdowns::start(std::size_t host, TimePoint::duration time, TimePoint now) {
  Countdown& countdown = countdowns_[host];
  const bool is_frozen = countdown.reading_paused || suspended_at_;
  set_due(host, is_frozen ? std::nullopt : std::optional(now + time));
  countdown.left_when_stopped = is_frozen ? std::optional(time) : std::nullopt;
  countdown.stopped_at = now;
}

void Countdowns::clear(std::size_t host) {
  set_due(host, std::nullopt);
  countdowns_[host].left_when_stopped.reset();
}

void Countdowns::pause_reading(std::size_t host, TimePoint now) {
  countdowns_[host].reading_paused = true;
  stop(host, now);
}

void Countdowns::resume_reading(std::size_t host, TimePoint now, TimePoint::duration by_reader) {
  Countdown& countdown = countdowns_[host];
  countdown.reading_paused = false;
  if (!countdown.left_when_stopped) return;
  const TimePoint::duration frozen_for = std::min(now, suspended_at_.value_or(now)) - countdown.stopped_at;
  *countdown.left_when_stopped -=
      std::max(frozen_for - std::min(by_reader, frozen_for), TimePoint::duration::zero());
  if (!suspended_at_) go_on(host, now);
}

void Countdowns::suspend(TimePoint now) {
  suspended_at_ = now;
  for (std::size_t host = 0; host < countdowns_.size(); ++host) stop(host, now);
}

void Countdowns::resume(TimePoint now) {
  if (!suspended_at_) return;
  for (std::size_t host = 0; host < countdowns_.size(); ++host) {
    Countdown& countdown = countdowns_[host];
    countdown.stopped_at += now - std::max(*suspended_at_, countdown.stopped_at);
    if (!countdown.reading_paused) go_on(host, now);
  }
  suspended_at_.reset();
}

TimePoint::duration Countdowns::left(std::size_t host, TimePoint now) const {
  const Countdown& countdown = countdowns_[host];
  if (countdown.due) return *countdown.due - now;
  return countdown.left_when_stopped.value_or(TimePoint::duration::zero());
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

void Countdowns::stop(std::size_t host, TimePoint now) {
  Countdown& countdown = countdowns_[host];
  if (!countdown.due) return;
  countdown.left_when_stopped = *countdown.due - now;
  countdown.stopped_at = now;
  set_due(host, std::nullopt);
}

void Countdowns::go_on(std::size_t host, TimePoint now) {
  Countdown& countdown = countdowns_[host];
  if (!countdown.left_when_stopped) return;
  set_due(host, now + *countdown.left_when_stopped);
  countdown.left_when_stopped.reset();
}

}  // namespace podrun::run
