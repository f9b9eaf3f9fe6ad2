// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>

namespace podrun::files {

/// A function on a thread of its own, since it waits for a disk. For the thread of the executor.
class ThreadWork {
 public:
  /// Throws std::system_error if no thread can be started.
  ThreadWork(const asio::any_io_executor& executor, std::function<void()> work);
  ThreadWork(const ThreadWork&) = delete;
  ThreadWork& operator=(const ThreadWork&) = delete;
  /// Waits for the end of the function: it may use what was made before this.
  ~ThreadWork();

  /// Waits for the end and throws what the function has thrown.
  asio::awaitable<void> end();

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::thread thread_;
};

/// The same, from its beginning to its end.
asio::awaitable<void> run_on_thread(std::function<void()> work);

}  // namespace podrun::files
