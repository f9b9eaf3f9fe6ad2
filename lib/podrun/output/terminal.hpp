// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <deque>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "podrun/base/chunk.hpp"
#include "podrun/base/expect.hpp"
#include "podrun/output/screen_painter.hpp"
#include "podrun/output/status_line.hpp"

namespace podrun::output {

/// Whether this descriptor is a terminal.
bool is_terminal(int descriptor);
/// The size of this terminal; 0x0 if it does not say.
ScreenSize size_of(int descriptor);
/// The width of this terminal; 80 if it does not say.
std::size_t columns_of(int descriptor);
/// Whether this descriptor leads to another program.
bool is_pipe(int descriptor);
/// Whether this is podrun's controlling terminal and podrun is in its foreground, so that it may read and
/// paint.
bool in_foreground(int descriptor);
/// How many bytes of whole lines were typed there and not read; 0: none, an error, or Ctrl-D alone.
int bytes_typed(int descriptor);

/// The only writer of stdout and stderr; keeps the order given across both, and the status line below the
/// output. After an error on a stream its bytes are discarded. For one thread at a time, except is_terminal()
/// and the functions for an immediate exit. SIGPIPE must be ignored. The caller owns the descriptors.
class Terminal {
 public:
  /// The most bytes that are gathered before they are written without flush(); one append may exceed it.
  static constexpr std::size_t kBuffer = 256 * 1024;

  using TimePoint = StatusLine::TimePoint;
  /// The columns of the terminal at stderr while podrun may paint there; 0: it may not.
  using Columns = std::function<std::size_t()>;

  /// Asks the kernel for the columns unless `columns` is given.
  Terminal(int out_fd, int err_fd, Columns columns = {});

  /// Whether this stream is a terminal; determined once.
  bool is_terminal(StreamId stream) const { return stream_of(stream).is_terminal; }

  /// Gathers the parts in order.
  void append(StreamId stream, std::initializer_list<std::string_view> parts);

  /// Gathers a message of podrun on a line of its own; on a terminal it is wrapped, see wrap_message().
  void say(std::string_view line);

  /// Gathers bytes for a full screen at stdout. While one is shown, say() keeps messages for a terminal (the
  /// last kMostKept). Bytes that do not keep them leave the screen: they are dropped if none is shown, and
  /// the messages follow.
  void show(std::string_view bytes, bool keeps_messages);
  static constexpr std::size_t kMostKept = 200;

  /// Writes the gathered bytes. Blocks while the reader does not read.
  void flush();
  /// The total time so far spent waiting for the reader, while podrun read from no host. From any thread.
  std::chrono::steady_clock::duration time_in_flush() const;

  /// Before a status line is painted.
  void set_charset(Charset charset) {
    expect(!status_.painted(), "the charset is set before a status line is painted");
    status_ = StatusLine(charset);
    charset_ = charset;
  }
  /// From now on this file has what the status line says, as one line, and then the list that goes with it;
  /// it changes every two seconds at most, and at once where the first part does.
  void keep_status(std::string path) { status_file_ = std::move(path); }
  /// Sets the status line. Empty text removes it at once.
  void say_status(StatusText text, std::optional<Bar> bar, const std::vector<std::string>& list = {});
  /// The user has typed this many lines on the terminal.
  void lines_typed(std::size_t lines);
  /// Paints the status line if it is due, everything is written, and the output's last line is complete.
  void paint_status(TimePoint now);
  /// Whether gathered output should wait for due(), so that the status line does not flicker.
  bool holds_back(TimePoint now) const;
  /// When to call flush() or, with nothing gathered, paint_status().
  TimePoint due() const;
  // For an immediate exit, from any thread. Both do nothing if they would block.
  /// Erases the status line, and leaves a full screen, for good.
  void wipe();
  /// Writes a line to stderr, before gathered output; not on a full screen, which it leaves.
  void say_at_once(std::string_view line);

  /// Whether stdout is a pipe or socket that nobody reads any more. From any thread.
  bool reader_has_gone() const;

  /// For those that refer to it.
  const Lender& lender() const { return lender_; }
  /// The first write error of this stream, if any.
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
  void write_status_file(const StatusText& text, const std::vector<std::string>& list);
  std::string as_shown(std::string_view message) const;
  void say_kept();
  void leave_screen_at_once();

  const Lender lender_{"a Terminal outlives the sinks that print on it"};
  using Time = std::chrono::steady_clock::duration;
  mutable std::mutex time_mutex_;      ///< so that no reader counts a flush twice or not at all
  Time time_in_flush_ = Time::zero();  ///< without the flush under way
  std::optional<TimePoint> flush_began_;
  std::array<Stream, kStreams> streams_;
  const Columns columns_;
  StatusLine status_;
  Charset charset_ = Charset::utf8;
  std::string status_file_;  ///< empty: none
  std::string status_in_file_;
  TimePoint file_written_ = TimePoint::min();
  std::atomic<bool> status_painted_ = false;
  std::atomic<bool> wiped_ = false;
  std::atomic<bool> line_open_ = false;  ///< the gathered or written output ends within a line of a terminal
  std::atomic<bool> shows_screen_ = false;
  bool keeps_messages_ = false;
  std::deque<std::string> kept_;  ///< messages
  std::size_t dropped_ = 0;       ///< messages that were too many
  std::string buffer_;
  std::vector<Segment> segments_;  ///< their bytes follow each other in buffer_; neighbours differ in stream
};

/// The exit status when nobody reads standard output any more.
inline constexpr int kBrokenPipeStatus = 128 + SIGPIPE;

/// Prints text on standard output. The exit status: 1 or kBrokenPipeStatus when it cannot be written.
int print_answer(const std::string& text, Terminal& terminal);

/// Prints each note on standard error, after `podrun: `.
void print_notes(const std::vector<std::string>& notes, Terminal& terminal);

}  // namespace podrun::output
