// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "podrun/base/stream_id.hpp"

namespace podrun {

/// Whether a person is at the other end of this descriptor.
bool is_terminal(int descriptor);

/// The only writer of standard output and standard error; keeps the order given, across both streams. From
/// its first error on a stream's bytes are discarded. For one thread at a time, except is_terminal(). SIGPIPE
/// must be ignored. The descriptors stay the caller's.
class Terminal {
 public:
  /// Bytes gathered at the most before they are written without being asked to (one append may exceed it).
  static constexpr std::size_t kBuffer = 256 * 1024;

  Terminal(int out_fd, int err_fd);

  /// Whether a person sees this stream; found out once.
  bool is_terminal(StreamId stream) const { return stream_of(stream).is_terminal; }

  /// Gathers the parts, one behind the other.
  void append(StreamId stream, std::initializer_list<std::string_view> parts);

  /// Writes what was gathered. Blocks as long as the reader does not read.
  void flush();

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

  std::array<Stream, kStreams> streams_;
  std::string buffer_;
  std::vector<Segment> segments_;  ///< whose bytes follow each other in buffer_; neighbours differ in stream
};

}  // namespace podrun
