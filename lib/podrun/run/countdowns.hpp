// SPDX-License-Identifier: Apache-2.0
#pragma once

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
  void start(std::size_t host, TimePoint::duration time, TimePoint now);
  void clear(std::size_t host);

  void pause_reading(std::size_t host, TimePoint now);
  /// Does not count the time of the reader; counts the time that podrun itself took.
  void resume_reading(std::size_t host, TimePoint now, TimePoint::duration by_reader);
  bool is_reading_paused(std::size_t host) const { return countdowns_[host].reading_paused; }
  void suspend(TimePoint now);
  void resume(TimePoint now);

  /// The time left; zero without a countdown.
  TimePoint::duration left(std::size_t host, TimePoint now) const;
  /// The end of the next countdown.
  std::optional<TimePoint> next() const;
  /// Clears the earliest countdown that has ended, and returns its host.
  std::optional<std::size_t> take_due(TimePoint now);

 private:
  struct Countdown {
    std::optional<TimePoint> due;
    std::optional<TimePoint::duration> left_when_stopped;
    TimePoint stopped_at;
    bool reading_paused = false;
  };

  void set_due(std::size_t host, std::optional<TimePoint> due);
  void stop(std::size_t host, TimePoint now);
  void go_on(std::size_t host, TimePoint now);

  std::vector<Countdown> countdowns_;
  std::set<std::pair<TimePoint, std::size_t>> by_time_;  ///< hosts with a `due`
  std::optional<TimePoint> suspended_at_;
};

}  // namespace podrun::run
