// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>

#include "podrun/base/chunk.hpp"
#include "podrun/link/link.hpp"

// Work beside the conversation with a host: on a thread, or sending while answers are read.
namespace podrun::transfer {

/// Runs a function on a thread of its own, since it waits for a disk. Only for the thread of the executor.
class ThreadWork {
 public:
  /// Throws std::system_error if no thread can be started.
  ThreadWork(const asio::any_io_executor& executor, std::function<void()> work);
  ThreadWork(const ThreadWork&) = delete;
  ThreadWork& operator=(const ThreadWork&) = delete;
  /// Waits for the end of the function, which may use objects that are older than this one.
  ~ThreadWork();

  /// Waits for the end; throws what the function threw.
  asio::awaitable<void> end();

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::thread thread_;
};

/// Runs a function on a thread and waits for its end; throws what it threw.
asio::awaitable<void> run_on_thread(std::function<void()> work);

/// Passes bytes from a host to a thread that waits for them; keeps at most kRoom bytes and one chunk. That
/// thread calls next() and leave(); all other functions are for the thread of the executor.
class ByteQueue {
 public:
  static constexpr std::size_t kRoom = 256 * 1024;
  /// Thrown by next() after give_up().
  struct GivenUp {};

  explicit ByteQueue(const asio::any_io_executor& executor);
  ByteQueue(const ByteQueue&) = delete;
  ByteQueue& operator=(const ByteQueue&) = delete;
  /// The other thread must have ended, see give_up().
  ~ByteQueue();

  void push(Chunk chunk);
  void close();    ///< ends the bytes
  void give_up();  ///< makes next() throw
  /// Returns when there is room, or the other thread has called leave().
  asio::awaitable<void> wait_for_room();
  bool is_left() const;

  /// Waits for the next bytes, which stay until the next call; empty at the end.
  std::string_view next();
  void leave();  ///< drops these and all further bytes

 private:
  struct State;
  std::shared_ptr<State> state_;
  Chunk current_;
};

/// Runs `writing`, which writes to a program, while `reading` reads its output: otherwise podrun and a
/// program that answers before it has read everything would wait for each other. Abandons the program when
/// `reading` ends, waits until `writing` has ended too, and throws what they threw.
asio::awaitable<void> write_while(std::shared_ptr<link::Stream> stream, asio::awaitable<void> writing,
                                  asio::awaitable<void> reading);

/// The same, and writes a text and the end of standard input.
asio::awaitable<void> send_while(std::shared_ptr<link::Stream> stream, std::string text,
                                 asio::awaitable<void> reading);

}  // namespace podrun::transfer
