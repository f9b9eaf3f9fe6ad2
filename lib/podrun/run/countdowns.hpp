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

/// The time each host has left for what it is doing. It stands still for a host that we hold back for our
/// reader's sake, and for all while podrun is stopped. Pure: is told the time. Every call costs O(log hosts),
/// but for (un)suspend.
class Countdowns {
 public:
  explicit Countdowns(std::size_t hosts) : countdowns_(hosts) {}

  /// Begins anew; it may have to stand still from its start.
  void start(std::size_t host, TimePoint::duration time, TimePoint now);
  void clear(std::size_t host);

  void hold(std::size_t host, TimePoint now);
  /// It stood still for as long as the reader kept it; what we took ourselves counts.
  void release(std::size_t host, TimePoint now, TimePoint::duration by_reader);
  bool is_held(std::size_t host) const { return countdowns_[host].held; }
  void suspend(TimePoint now);
  void unsuspend(TimePoint now);

  /// The time that this one has; zero where none is counted.
  TimePoint::duration left(std::size_t host, TimePoint now) const;
  /// When the next one comes to its end.
  std::optional<TimePoint> next() const;
  /// Clears one that has come to its end, the earliest first, and says whose it was.
  std::optional<std::size_t> take_due(TimePoint now);

 private:
  struct Countdown {
    std::optional<TimePoint> due;
    std::optional<TimePoint::duration> left_when_paused;
    TimePoint paused_at;
    bool held = false;
  };

  void set_due(std::size_t host, std::optional<TimePoint> due);
  void pause(std::size_t host, TimePoint now);
  void go_on(std::size_t host, TimePoint now);

  std::vector<Countdown> countdowns_;
  std::set<std::pair<TimePoint, std::size_t>> by_time_;  ///< those with a `due`
  std::optional<TimePoint> suspended_at_;
};

}  // namespace podrun::run
