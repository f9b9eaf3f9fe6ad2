// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "podrun/base/stream_id.hpp"
#include "podrun/output/line_splitter.hpp"

namespace podrun {

/// A line of one host, numbered by its place in the run. `text` holds until the call it is given to returns.
struct Line {
  std::size_t host = 0;
  StreamId stream = StreamId::out;
  std::string_view text;
  LineEnd end = LineEnd::newline;
};

/// What a sink wants to be given: whole lines, or each chunk as it came (as a LineEnd::piece).
enum class Feed { lines, chunks };

/// The seam for what becomes of the hosts' output. Everything but feed() is called on the output thread
/// alone.
class Sink {
 public:
  using Clock = std::chrono::steady_clock;
  using TimePoint = Clock::time_point;

  virtual ~Sink() = default;

  virtual Feed feed() const { return Feed::lines; }
  virtual void line(const Line& line) = 0;

  /// A first command starts now. Called at most once; lines may have come before. A run in which nothing
  /// starts has no call.
  virtual void started() {}

  /// No line of this host follows.
  virtual void host_ended(std::size_t /*host*/) {}

  /// Every host has ended: what was held back is delivered now.
  virtual void finish() {}

  /// The time at which the lines given next have come, without what our own reader has taken; also called at
  /// next_tick() when nothing comes.
  virtual void tick(TimePoint /*now*/) {}
  virtual TimePoint next_tick() const { return TimePoint::max(); }

  /// What could not be written, if something could not: `DIR/3-tpu-3.out: No space left on device`. Asked
  /// often.
  virtual const std::string* error() const { return nullptr; }
};

}  // namespace podrun
