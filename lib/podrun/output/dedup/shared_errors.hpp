// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "podrun/output/dedup/dedup.hpp"
#include "podrun/output/sink.hpp"

namespace podrun::output {

/// Shows an error that several hosts print at the same time once, and every other line as it is: none is
/// compared with an earlier one. Lines of stdout that follow a waiting error wait behind it.
class SharedErrors {
 public:
  using TimePoint = Sink::TimePoint;
  using Show = std::function<void(std::span<const std::size_t> hosts, const Line& line)>;

  enum class OtherLines { wait, pass };

  /// `window`: how long an error waits for other hosts.
  SharedErrors(std::size_t hosts, std::chrono::milliseconds window, OtherLines others, Show show);

  void line(TimePoint now, const Line& line);
  void host_ended(std::size_t host) { errors_.host_ended(host); }
  void tick(TimePoint now) { errors_.tick(now); }
  TimePoint next_tick() const { return errors_.next_tick(); }
  void finish() { errors_.finish(); }

 private:
  struct Held {
    std::string text;
    LineEnd end;
    std::size_t after;  ///< errors of the host that come first
  };
  struct HostLines {
    std::size_t given = 0;  ///< errors
    std::size_t shown = 0;  ///< of them
    std::deque<Held> held;
    std::size_t held_bytes = 0;
  };

  static DedupLimits limits(std::chrono::milliseconds window);
  void show_error(const DedupedLine& error);
  void release(std::size_t host);

  const OtherLines others_;
  const Show show_;
  std::vector<HostLines> hosts_;
  Dedup errors_;
};

}  // namespace podrun::output
