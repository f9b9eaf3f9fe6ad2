// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>

#include "podrun/base/chunk.hpp"

namespace podrun::files {

/// Passes bytes from a host to a thread that waits for them. Holds at most kRoom bytes and one chunk. That
/// thread calls next() and leave(); all other functions are for the thread of the executor.
class ByteQueue {
 public:
  static constexpr std::size_t kRoom = 256 * 1024;
  /// What next() throws after give_up().
  struct GivenUp {};

  explicit ByteQueue(const asio::any_io_executor& executor);
  ByteQueue(const ByteQueue&) = delete;
  ByteQueue& operator=(const ByteQueue&) = delete;
  /// The other thread must have ended, see give_up().
  ~ByteQueue();

  void push(Chunk chunk);
  void close();    ///< no more follow
  void give_up();  ///< next() throws
  /// Returns when there is room, or the other thread takes no more.
  asio::awaitable<void> wait_for_room();
  bool is_left() const;

  /// Waits for the next bytes, which stay until the next call; empty at the end.
  std::string_view next();
  void leave();  ///< takes no more

 private:
  struct State;
  std::shared_ptr<State> state_;
  Chunk current_;
};

}  // namespace podrun::files
