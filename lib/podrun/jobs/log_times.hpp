// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "podrun/base/chunk.hpp"
#include "podrun/jobs/log_frames.hpp"
#include "podrun/output/json_sink.hpp"

namespace podrun::jobs {

/// Puts in front of each line of a host when its first byte came there: `2026-11-28T04:05:26Z `. Pure.
class LogTimes {
 public:
  /// In the order of the sizes; what is known already is ignored.
  void add(const LogNote& note, output::WallTime now);
  /// These bytes of a stream, with the times. A line that is newer than all notes came now. Expects the
  /// pieces of a stream in order.
  std::string stamp(StreamId stream, std::uint64_t position, std::string_view bytes, output::WallTime now);

 private:
  /// Where the next byte stands. A carriage return begins a line too, unless a newline follows.
  enum class Place : std::uint8_t { line_begin, after_return, within };
  struct Entry {
    output::WallTime time;
    std::array<std::uint64_t, kStreams> sizes;
  };

  void forget_shown();

  std::deque<Entry> entries_ = {};
  std::array<std::uint64_t, kStreams> last_sizes_ = {};  ///< of the last note
  std::array<std::uint64_t, kStreams> shown_ = {};       ///< the bytes before were stamped
  std::array<Place, kStreams> places_ = {};
};

}  // namespace podrun::jobs
