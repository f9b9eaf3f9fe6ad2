// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>

#include "podrun/base/chunk.hpp"
#include "podrun/link/link.hpp"

namespace podrun::run {

/// Where a run's input comes from: a descriptor, or bytes that are known.
struct InputSource {
  std::string name;  ///< for errors: `standard input`
  std::variant<int, std::vector<Chunk>> from;
};

/// The bytes of one source for many hosts (`-I`). A descriptor is read once, by a thread of its own since
/// epoll refuses files, and at most 1 MiB ahead of the slowest host.
class Input {
 public:
  /// Called on the context when the source of this name cannot be read; for the hosts the input ends there.
  using OnError = std::function<void(const std::string& name, std::error_code error)>;

  Input(std::shared_ptr<asio::io_context> context, InputSource source, std::size_t hosts,
        OnError on_error = nullptr);
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  /// Every host leaves. Does not wait for the thread, which may be in a read that never ends.
  ~Input();

  /// Begins to read at the first call: a run that is given up before has taken nothing. Copies everything to
  /// the host's stream; returns at the end of the input, or when the stream takes no more.
  asio::awaitable<void> feed(std::size_t host, std::shared_ptr<link::Stream> stream);
  /// This host takes no more: the others need not wait for it.
  void leave(std::size_t host);

 private:
  struct Reading;
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace podrun::run
