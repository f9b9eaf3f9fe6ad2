// SPDX-License-Identifier: Apache-2.0
#include "podrun/transfer/host_waits.hpp"

#include <utility>

#include <asio/this_coro.hpp>

#include "podrun/base/at_end.hpp"
#include "podrun/link/failure.hpp"

namespace podrun::transfer {

void HostWaits::abandon(std::size_t host) {
  abandoned_[host] = true;
  report_change();
}

asio::awaitable<void> HostWaits::wait(std::size_t host) {
  if (abandoned_[host]) throw link::HostError({.cause = link::Cause::abandoned});
  const auto changed = std::make_shared<Event>(co_await asio::this_coro::executor);
  waiting_.push_back(changed);
  const AtEnd forget([&] { std::erase(waiting_, changed); });  // waiting_ outlives the event loop
  co_await changed->wait();
  if (abandoned_[host]) throw link::HostError({.cause = link::Cause::abandoned});
}

void HostWaits::report_change() {
  for (const std::shared_ptr<Event>& each : std::exchange(waiting_, {})) each->notify();
}

}  // namespace podrun::transfer
