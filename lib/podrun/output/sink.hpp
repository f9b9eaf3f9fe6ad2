// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/base/chunk.hpp"
#include "podrun/output/line_splitter.hpp"

namespace podrun::output {

/// A line of a host, which is given by its index in the run. `text` is valid until the call that gets it
/// returns.
struct Line {
  std::size_t host = 0;
  StreamId stream = StreamId::out;
  std::string_view text;
  LineEnd end = LineEnd::newline;
};

/// A sink receives whole lines, or each chunk as it came (as a LineEnd::piece).
enum class Feed { lines, chunks };

/// The seam for ways to show or store the hosts' output. All functions but feed() are called only on the
/// output thread.
class Sink {
 public:
  using Clock = std::chrono::steady_clock;
  using TimePoint = Clock::time_point;

  virtual ~Sink() = default;

  virtual Feed feed() const { return Feed::lines; }
  virtual void line(const Line& line) = 0;

  /// Whether host_named() is wanted.
  virtual bool wants_names() const { return false; }
  /// The host calls itself so; called before its lines, again when it was tried again.
  virtual void host_named(std::size_t /*host*/, const std::vector<std::string>& /*names*/) {}

  /// The first command starts. Called at most once, and not at all if no command starts; lines may have come
  /// before.
  virtual void started() {}

  /// No more lines of this host follow.
  virtual void host_ended(std::size_t /*host*/) {}

  /// Every host has ended: shows or stores the remaining lines.
  virtual void finish() {}

  /// Sets the time when the next lines arrived, without the time that podrun waited for its own reader. Also
  /// called at next_tick() if nothing arrives.
  virtual void tick(TimePoint /*now*/) {}
  virtual TimePoint next_tick() const { return TimePoint::max(); }

  /// The write that failed, if any: `DIR/3-tpu-3.out: No space left on device`. Called often.
  virtual const std::string* error() const { return nullptr; }
};

}  // namespace podrun::output
