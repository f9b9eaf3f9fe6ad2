// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

namespace podrun {

/// Wakes the coroutine that waits for it; a notify without a waiter is remembered. For one waiter, on one
/// thread. Its timer never expires: cancelling it wakes the waiter (asio 1.22 has nothing lighter).
class Event {
 public:
  explicit Event(const asio::any_io_executor& executor)
      : timer_(executor, asio::steady_timer::time_point::max()) {}

  void notify() {
    notified_ = true;
    timer_.cancel();
  }
  asio::awaitable<void> wait();

 private:
  asio::steady_timer timer_;
  bool notified_ = false;
};

}  // namespace podrun
