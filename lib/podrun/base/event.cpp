// SPDX-License-Identifier: Apache-2.0
// Waits for a notify. Not in the header: GCC gives a coroutine's frame other names in each file, so that
// -Wodr takes its two copies for two types.
#include "podrun/base/event.hpp"

#include <system_error>

#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

namespace podrun {

asio::awaitable<void> Event::wait() {
  if (!notified_) {
    std::error_code cancelled;
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  }
  notified_ = false;
}

}  // namespace podrun
