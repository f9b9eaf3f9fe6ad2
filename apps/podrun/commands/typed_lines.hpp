// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

#include <asio/any_io_executor.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

namespace podrun::commands {

/// Reads the lines that the user types on the controlling terminal, while podrun is in its foreground and no
/// program has changed the terminal's mode. After Ctrl-D it reads nothing more.
class TypedLines {
 public:
  /// Called with the number of lines that were typed at once.
  using OnLines = std::function<void(std::size_t)>;

  TypedLines(const asio::any_io_executor& executor, OnLines on_lines);

  void start();
  void stop();

 private:
  void listen();
  bool is_ours();
  bool read();

  asio::posix::stream_descriptor terminal_;
  asio::steady_timer later_;
  OnLines on_lines_;
  unsigned changes_ = 0;  ///< start() or stop(): a handler of before may be on its way already
};

}  // namespace podrun::commands
