// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <system_error>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>

#include "podrun/link/link.hpp"

namespace podrun {

/// One descriptor's bytes for many hosts (`-I`): read once, by a thread of its own since epoll refuses files,
/// and not further than 1 MiB ahead of the slowest host.
class Input {
 public:
  /// Called on the context when the descriptor cannot be read; for the hosts that is the end of the input.
  using OnError = std::function<void(std::error_code)>;

  Input(std::shared_ptr<asio::io_context> context, int descriptor, std::size_t hosts,
        OnError on_error = nullptr);
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  /// Every host leaves. Does not wait for the thread, which may be in a read that never ends.
  ~Input();

  /// Begins to read at the first call: a run that is given up before has taken nothing. Copies everything to
  /// the host's stream; returns at the end of the input, or when the stream takes no more.
  asio::awaitable<void> feed(std::size_t host, std::shared_ptr<Stream> stream);
  /// This host takes no more: the others need not wait for it.
  void leave(std::size_t host);

 private:
  struct Reading;
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace podrun
