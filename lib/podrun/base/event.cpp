// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/event.hpp"

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
