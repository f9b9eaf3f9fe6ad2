// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <asio/awaitable.hpp>

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
  void remember(std::string_view bytes);
  [[noreturn]] void fail(const link::StreamEvent& end) const;

  link::Stream& stream_;
  HelloReader reader_;
  Noise noise_;
  std::string said_;  ///< the end of what the host printed
};

/// `exit 1`, for messages.
std::string describe_end(const link::StreamEvent& event);

}  // namespace podrun::supervisor
