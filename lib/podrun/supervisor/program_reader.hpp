// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <asio/awaitable.hpp>

#include "podrun/base/chunk.hpp"
#include "podrun/link/link.hpp"
#include "podrun/supervisor/protocol.hpp"

namespace podrun::supervisor {

/// Takes what a host prints before the hello; may wait, which slows the host down.
using Noise = std::function<asio::awaitable<void>(link::Received)>;

/// Reads a stream up to the hello of the program in it.
class Greeting {
 public:
  Greeting(link::Stream& stream, std::string_view nonce, Noise noise)
      : stream_(stream), reader_(nonce), noise_(std::move(noise)) {}

  /// Throws HostError. `may_have_started` becomes false if the program has certainly ended before its hello.
  asio::awaitable<Hello> read(bool& may_have_started);
  asio::awaitable<Hello> read();

  /// Output that came together with the hello.
  Chunk rest() const { return reader_.rest().empty() ? Chunk() : Chunk(reader_.rest()); }

 private:
  asio::awaitable<void> take(link::Received output);
  asio::awaitable<void> emit(std::string bytes);
  void remember(StreamId stream, std::string_view bytes);
  [[noreturn]] void fail(const link::StreamEvent& end) const;

  link::Stream& stream_;
  HelloReader reader_;
  Noise noise_;
  std::string said_;  ///< the end of what the host printed
  StreamId said_on_ = StreamId::out;
};

/// `exit 1`, for messages.
std::string describe_end(const link::StreamEvent& event);

/// A program beside a command, and the output that came with its hello.
struct StartedProgram {
  std::shared_ptr<link::Stream> stream;
  Chunk early;
};

/// Reads what a program beside a command prints.
class ProgramReader {
 public:
  explicit ProgramReader(StartedProgram program)
      : stream_(std::move(program.stream)), early_(std::move(program.early)) {}

  /// The next standard output; none at the end. Throws HostError.
  asio::awaitable<std::optional<Chunk>> read();

  const std::shared_ptr<link::Stream>& stream() const { return stream_; }
  const std::string& said() const { return said_; }  ///< on standard error, up to 64 KiB
  /// `tar: no space left (exit 2)`: the last line on standard error, and how the program ended.
  std::string describe_end() const;
  /// Whether it was ended by a signal, or by a shell or transport command that says so by its exit status.
  bool was_killed() const;

 private:
  std::shared_ptr<link::Stream> stream_;
  Chunk early_;
  std::string said_ = {};
  link::StreamEvent end_ = link::Closed{};
};

}  // namespace podrun::supervisor
