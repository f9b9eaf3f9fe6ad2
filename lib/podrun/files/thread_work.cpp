// SPDX-License-Identifier: Apache-2.0
#include "podrun/files/thread_work.hpp"

#include <exception>
#include <utility>

#include <asio/post.hpp>
#include <asio/this_coro.hpp>

#include "podrun/base/event.hpp"
#include "podrun/base/thread.hpp"

namespace podrun::files {

struct ThreadWork::State {
  explicit State(const asio::any_io_executor& its_executor) : executor(its_executor), changed(its_executor) {}

  const asio::any_io_executor executor;
  // Only used on the executor:
  Event changed;
  bool ended = false;
  std::exception_ptr error;
};

ThreadWork::ThreadWork(const asio::any_io_executor& executor, std::function<void()> work)
    : state_(std::make_shared<State>(executor)) {
  thread_ = start_thread([state = state_, work = std::move(work)] {
    std::exception_ptr error;
    try {
      work();
    } catch (...) {
      error = std::current_exception();
    }
    asio::post(state->executor, [state, error] {
      state->error = error;
      state->ended = true;
      state->changed.notify();
    });
  });
}

ThreadWork::~ThreadWork() { thread_.join(); }

asio::awaitable<void> ThreadWork::end() {
  const std::shared_ptr<State> state = state_;
  while (!state->ended) co_await state->changed.wait();
  if (state->error) std::rethrow_exception(std::exchange(state->error, nullptr));
}

asio::awaitable<void> run_on_thread(std::function<void()> work) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  ThreadWork running(executor, std::move(work));
  co_await running.end();
}

}  // namespace podrun::files
