// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include <asio/io_context.hpp>

#include "podrun/base/expect.hpp"

namespace podrun {

/// Runs work that may block (a name look-up, an agent, key derivation) on a few threads. Those in a
/// call are never joined, so a name server that never answers cannot delay podrun's exit. Use and destroy it
/// on the context's thread.
class BlockingPool {
 public:
  /// Starts at most `threads` threads, each when it is needed.
  BlockingPool(std::shared_ptr<asio::io_context> context, std::size_t threads);
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;
  /// Does not wait: drops work that has not begun, no longer calls `done`, and releases the context.
  ~BlockingPool();

  /// Runs `work` on a thread, then `done` on the context, and keeps the context busy until then. An exception
  /// of `work` is thrown on the context. Throws std::system_error if no thread can be started.
  void run(std::function<void()> work, std::function<void()> done);

 private:
  class State;
  const OneThread thread_;
  std::shared_ptr<State> state_;
};

}  // namespace podrun
