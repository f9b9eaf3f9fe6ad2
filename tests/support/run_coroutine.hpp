// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <exception>
#include <future>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <asio/any_io_executor.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

namespace podrun::test {

/// The longest wait of a test: enough for a sanitizer on a busy machine.
inline constexpr std::chrono::seconds kDeadline{180};

/// Runs the coroutine `body(executor)` on an io_context of its own until that has nothing left to do. Returns
/// the coroutine's value or rethrows; throws std::runtime_error when anything is still pending at the
/// deadline.
template <typename Body>
auto run_coroutine(Body body, std::chrono::seconds deadline = kDeadline) {
  using Value = typename std::invoke_result_t<Body&, asio::any_io_executor>::value_type;
  asio::io_context context(1);
  std::promise<Value> promise;
  std::future<Value> result = promise.get_future();
  auto coroutine = body(asio::any_io_executor(context.get_executor()));
  if constexpr (std::is_void_v<Value>) {
    asio::co_spawn(context, std::move(coroutine), [&](const std::exception_ptr& error) {
      error ? promise.set_exception(error) : promise.set_value();
    });
  } else {
    asio::co_spawn(context, std::move(coroutine), [&](const std::exception_ptr& error, Value value) {
      error ? promise.set_exception(error) : promise.set_value(std::move(value));
    });
  }
  context.run_for(deadline);
  if (result.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    throw std::runtime_error("the coroutine is not done by the deadline");
  }
  if (!context.stopped()) throw std::runtime_error("the coroutine left something pending");
  return result.get();
}

/// Waits for a condition that comes true by itself; false when it does not by the deadline.
template <typename Condition>
asio::awaitable<bool> eventually(asio::any_io_executor executor, Condition condition) {
  const auto end = std::chrono::steady_clock::now() + kDeadline;
  asio::steady_timer timer(executor);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) co_return false;
    timer.expires_after(std::chrono::milliseconds(10));
    co_await timer.async_wait(asio::use_awaitable);
  }
  co_return true;
}

/// The same outside of coroutines.
template <typename Condition>
bool eventually(Condition condition) {
  return run_coroutine(
      [&](asio::any_io_executor executor) -> asio::awaitable<bool> {
        co_return co_await eventually(executor, condition);
      },
      2 * kDeadline);
}

}  // namespace podrun::test
