// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/output/sink.hpp"

namespace podrun::output {

/// Finds the hosts that a view of common lines would leave out without a word: those whose equal lines come
/// too late to be shown, and those that print nothing while the others do. Each is said once, and when it
/// ends.
class Stragglers {
 public:
  using Clock = Sink::Clock;
  using TimePoint = Sink::TimePoint;

  /// Something to say of some hosts, which are in ascending order.
  struct Remark {
    enum class Kind { is_behind, caught_up, is_silent, prints_again } kind = Kind::is_behind;
    std::vector<std::size_t> hosts;
    Clock::duration time{};  ///< how far behind, or how long silent
  };

  explicit Stragglers(std::size_t hosts) : hosts_(hosts) {}

  /// The host has printed a line.
  void printed(TimePoint now, std::size_t host);
  /// A line of the host was shown with those of others.
  void was_in_time(std::size_t host) { hosts_[host].late_since.reset(); }
  /// A line of the host came so much too late to be shown.
  void was_late(TimePoint now, std::size_t host, Clock::duration lag);
  void host_ended(std::size_t host) { hosts_[host].runs = false; }

  /// When take_remarks() may find something.
  TimePoint next_check() const { return next_check_; }
  std::vector<Remark> take_remarks(TimePoint now);
  /// All late lines until now: `[7] 120 lines, up to 4.2 s behind; [1-3] 8 lines, up to 40 ms behind`.
  std::string late_lines(const std::vector<hosts::Host>& hosts) const;

 private:
  struct HostPace {
    std::optional<TimePoint> last;        ///< when it printed
    std::optional<TimePoint> late_since;  ///< none of its lines was in time since
    std::optional<TimePoint> last_late;
    Clock::duration lag{};  ///< of the last late line
    std::size_t late_lines = 0;
    Clock::duration worst_lag{};
    std::optional<Clock::duration> silence;  ///< that was said
    bool is_behind = false;                  ///< that was said
    bool runs = true;
  };

  Clock::duration silence_of(const HostPace& host, TimePoint now) const {
    return now - host.last.value_or(*begun_);
  }
  void find_behind(TimePoint now, std::vector<Remark>& remarks);
  void find_silent(TimePoint now, std::vector<Remark>& remarks);

  std::vector<HostPace> hosts_;
  std::optional<TimePoint> begun_;  ///< the first line of any host
  TimePoint next_check_ = TimePoint::max();
};

/// `[1,6] are 1.2 s behind: their equal lines are not shown`
std::string say(const Stragglers::Remark& remark, const std::string& hosts);

}  // namespace podrun::output
