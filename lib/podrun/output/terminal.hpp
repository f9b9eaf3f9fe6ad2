// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "podrun/base/stream_id.hpp"
#include "podrun/output/status_line.hpp"

namespace podrun {

/// Whether a person is at the other end of this descriptor.
bool is_terminal(int descriptor);
/// Whether another program is.
bool is_pipe(int descriptor);
/// Whether this is our controlling terminal and we are in its foreground, so that it is ours to read and
/// paint.
bool in_foreground(int descriptor);

/// The only writer of standard output and standard error; keeps the order given, across both streams. From
/// its first error on a stream's bytes are discarded. Below the output it keeps the status line. For one
/// thread at a time, except is_terminal() and what is for leaving at once. SIGPIPE must be ignored. The
/// descriptors stay the caller's.
class Terminal {
 public:
  /// Bytes gathered at the most before they are written without being asked to (one append may exceed it).
  static constexpr std::size_t kBuffer = 256 * 1024;

  using TimePoint = StatusLine::TimePoint;
  /// Columns of the terminal that standard error is, while it is ours to paint; 0: it is not.
  using Columns = std::function<std::size_t()>;

  /// Asks the kernel for the columns where nothing else is given.
  Terminal(int out_fd, int err_fd, Columns columns = {});

  /// Whether a person sees this stream; found out once.
  bool is_terminal(StreamId stream) const { return stream_of(stream).is_terminal; }

  /// Gathers the parts, one behind the other.
  void append(StreamId stream, std::initializer_list<std::string_view> parts);

  /// A line of podrun itself, on a line of its own.
  void say(std::string_view line);

  /// Writes what was gathered. Blocks as long as the reader does not read.
  void flush();
  /// All together, up to now: time that the reader has taken, in which no host could be heard. From any
  /// thread.
  std::chrono::steady_clock::duration time_in_flush() const;

  /// Before the first say_status().
  void set_charset(Charset charset) { status_ = StatusLine(charset); }
  /// What the status line is to say. Empty: it is gone at once.
  void say_status(StatusText text, std::optional<Bar> bar);
  /// The user has typed so many lines on the terminal.
  void lines_typed(std::size_t lines);
  /// Paints it if it is due, everything is written, and no line of the output is unfinished.
  void paint_status(TimePoint now);
  /// Whether what was gathered should wait for due(), so that the status line does not flicker.
  bool holds_back(TimePoint now) const;
  /// When to flush(), or else to paint_status().
  TimePoint due() const;
  // For leaving at once: from any thread, and not where that would block.
  void wipe();                              ///< erases the status line for good
  void say_at_once(std::string_view line);  ///< on standard error, whatever was gathered

  /// The first error of writing to this stream, if there was one.
  std::error_code error(StreamId stream) const { return stream_of(stream).error; }

 private:
  struct Stream {
    int fd;
    bool is_terminal;
    std::error_code error;
  };
  struct Segment {
    StreamId stream;
    std::size_t size;
  };

  const Stream& stream_of(StreamId stream) const { return streams_[index_of(stream)]; }
  int err_fd() const { return stream_of(StreamId::err).fd; }
  void write_status(std::string_view bytes);

  using Time = std::chrono::steady_clock::duration;
  mutable std::mutex time_mutex_;      ///< so that nobody sees a flush twice or not at all
  Time time_in_flush_ = Time::zero();  ///< without one that is under way
  std::optional<TimePoint> flush_began_;
  std::array<Stream, kStreams> streams_;
  const Columns columns_;
  StatusLine status_;
  std::atomic<bool> status_painted_ = false;
  std::atomic<bool> wiped_ = false;
  std::atomic<bool> line_open_ = false;  ///< what was gathered or written ends within a line of a terminal
  std::string buffer_;
  std::vector<Segment> segments_;  ///< whose bytes follow each other in buffer_; neighbours differ in stream
};

}  // namespace podrun
