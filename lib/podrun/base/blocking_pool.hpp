// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include <asio/io_context.hpp>

namespace podrun {

/// Runs work that may block (a name look-up, an agent, key derivation) on a few threads that nobody joins: a
/// name server that never answers does not keep podrun from leaving. Used and destroyed on the context's
/// thread.
class BlockingPool {
 public:
  /// At most `threads` of them, each started when it is needed.
  BlockingPool(std::shared_ptr<asio::io_context> context, std::size_t threads);
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;
  /// Waits for nothing: work that has not begun is dropped, `done` is not called any more, the context is let
  /// go of.
  ~BlockingPool();

  /// Runs `work` on a thread, then `done` on the context, which meanwhile does not run out of work. What
  /// `work` throws is thrown on the context instead. Throws std::system_error where not one thread can be
  /// had.
  void run(std::function<void()> work, std::function<void()> done);

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace podrun
