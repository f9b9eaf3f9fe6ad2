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

/// The source of a run's input: a descriptor, or known bytes.
struct InputSource {
  std::string name;  ///< for errors: `standard input`
  std::variant<int, std::vector<Chunk>> from;
};

/// The bytes of one source for many hosts (`-I`). A descriptor is read once, by a thread of its own since
/// epoll refuses files, and at most 1 MiB ahead of the slowest host.
class Input {
 public:
  /// Called on the context when the source of this name cannot be read. The hosts see the end of the input.
  using OnError = std::function<void(const std::string& name, std::error_code error)>;

  Input(std::shared_ptr<asio::io_context> context, InputSource source, std::size_t hosts,
        OnError on_error = nullptr);
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  /// Makes every host leave. Does not wait for the thread, which may be in a read that never ends.
  ~Input();

  /// Copies everything to the host's stream; returns at the end of the input, or when the stream takes no
  /// more. Reading starts with the first call, so a run that fails earlier consumes nothing.
  asio::awaitable<void> feed(std::size_t host, std::shared_ptr<link::Stream> stream);
  /// The host takes no more input, so the others need not wait for it.
  void leave(std::size_t host);

 private:
  struct Reading;
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace podrun::run
