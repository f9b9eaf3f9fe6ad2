// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace podrun::run {

using TimePoint = std::chrono::steady_clock::time_point;

/// The time that each host has left for its present step. Frozen while podrun does not read from the host
/// because its own reader is slow, and for all hosts while podrun is suspended. Pure. A call costs O(log
/// hosts), or O(hosts) around a suspension.
class Countdowns {
 public:
  explicit Countdowns(std::size_t hosts) : countdowns_(hosts) {}

  /// Starts again with all of `time`, even while frozen.
  void start(std::size_t host, TimePoint::duration time, TimePoint now) {
    Countdown& countdown = countdowns_[host];
    const bool is_frozen = countdown.reading_paused || suspended_at_;
    set_due(host, is_frozen ? std::nullopt : std::optional(now + time));
    countdown.left_when_stopped = is_frozen ? std::optional(time) : std::nullopt;
    countdown.stopped_at = now;
  }
  void clear(std::size_t host) {
    set_due(host, std::nullopt);
    countdowns_[host].left_when_stopped.reset();
  }

  void pause_reading(std::size_t host, TimePoint now) {
    countdowns_[host].reading_paused = true;
    stop(host, now);
  }
  /// Does not count the time of the reader; counts the time that podrun itself took.
  void resume_reading(std::size_t host, TimePoint now, TimePoint::duration by_reader) {
    Countdown& countdown = countdowns_[host];
    countdown.reading_paused = false;
    if (!countdown.left_when_stopped) return;
    const TimePoint::duration frozen_for = std::min(now, suspended_at_.value_or(now)) - countdown.stopped_at;
    *countdown.left_when_stopped -=
        std::max(frozen_for - std::min(by_reader, frozen_for), TimePoint::duration::zero());
    if (!suspended_at_) go_on(host, now);
  }
  bool is_reading_paused(std::size_t host) const { return countdowns_[host].reading_paused; }
  void suspend(TimePoint now) {
    suspended_at_ = now;
    for (std::size_t host = 0; host < countdowns_.size(); ++host) stop(host, now);
  }
  void resume(TimePoint now) {
    if (!suspended_at_) return;
    for (std::size_t host = 0; host < countdowns_.size(); ++host) {
      Countdown& countdown = countdowns_[host];
      countdown.stopped_at += now - std::max(*suspended_at_, countdown.stopped_at);
      if (!countdown.reading_paused) go_on(host, now);
    }
    suspended_at_.reset();
  }

  /// The time left; zero without a countdown.
  TimePoint::duration left(std::size_t host, TimePoint now) const {
    const Countdown& countdown = countdowns_[host];
    if (countdown.due) return *countdown.due - now;
    return countdown.left_when_stopped.value_or(TimePoint::duration::zero());
  }
  /// The end of the next countdown.
  std::optional<TimePoint> next() const {
    return by_time_.empty() ? std::nullopt : std::optional(by_time_.begin()->first);
  }
  /// Clears the earliest countdown that has ended, and returns its host.
  std::optional<std::size_t> take_due(TimePoint now) {
    if (by_time_.empty() || by_time_.begin()->first > now) return std::nullopt;
    const std::size_t host = by_time_.begin()->second;
    clear(host);
    return host;
  }

 private:
  struct Countdown {
    std::optional<TimePoint> due;
    std::optional<TimePoint::duration> left_when_stopped;
    TimePoint stopped_at;
    bool reading_paused = false;
  };

  void set_due(std::size_t host, std::optional<TimePoint> due) {
    std::optional<TimePoint>& current = countdowns_[host].due;
    if (current) by_time_.erase({*current, host});
    if (due) by_time_.insert({*due, host});
    current = due;
  }
  void stop(std::size_t host, TimePoint now) {
    Countdown& countdown = countdowns_[host];
    if (!countdown.due) return;
    countdown.left_when_stopped = *countdown.due - now;
    countdown.stopped_at = now;
    set_due(host, std::nullopt);
  }
  void go_on(std::size_t host, TimePoint now) {
    Countdown& countdown = countdowns_[host];
    if (!countdown.left_when_stopped) return;
    set_due(host, now + *countdown.left_when_stopped);
    countdown.left_when_stopped.reset();
  }

  std::vector<Countdown> countdowns_;
  std::set<std::pair<TimePoint, std::size_t>> by_time_;  ///< hosts with a `due`
  std::optional<TimePoint> suspended_at_;
};

}  // namespace podrun::run
