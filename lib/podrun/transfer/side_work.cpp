// SPDX-License-Identifier: Apache-2.0
// Threads and coroutines beside a conversation with a host. Only the executor's thread touches the state that
// coroutines wait for: a thread posts its news there.
#include "podrun/transfer/side_work.hpp"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/this_coro.hpp>

#include "podrun/base/event.hpp"
#include "podrun/base/thread.hpp"

namespace podrun::transfer {
namespace {

asio::awaitable<void> send(std::shared_ptr<link::Stream> stream, std::string text) {
  bool open = true;
  for (std::string_view rest = text; open && !rest.empty();) {
    Chunk chunk(
        std::string(rest.substr(0, Chunk::kMaxSize)));  // named: g++ 12 destroys a temporary here twice
    rest.remove_prefix(chunk.size());
    open = co_await stream->write(std::move(chunk));
  }
  stream->close_write();
}

/// How a coroutine ended that runs beside another one.
struct Aside {
  explicit Aside(const asio::any_io_executor& executor) : changed(executor) {}

  Event changed;
  bool ended = false;
  std::exception_ptr error;
};

}  // namespace

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

/// Shared with the handlers that are on their way to the executor.
struct ByteQueue::State : public std::enable_shared_from_this<ByteQueue::State> {
  explicit State(const asio::any_io_executor& its_executor) : executor(its_executor), changed(its_executor) {}

  /// Sets a flag that next() waits for.
  void set(bool& flag) {
    {
      const std::lock_guard lock(mutex);
      flag = true;
    }
    arrived.notify_one();
  }
  /// With the mutex locked: wakes wait_for_room().
  void tell() {
    if (!std::exchange(asks_for_room, false)) return;
    asio::post(executor, [self = shared_from_this()] { self->changed.notify(); });
  }

  const asio::any_io_executor executor;
  Event changed;  ///< only used on the executor
  std::mutex mutex;
  std::condition_variable arrived;
  std::deque<Chunk> chunks;
  std::size_t waiting = 0;  ///< bytes
  bool asks_for_room = false;
  bool closed = false;
  bool given_up = false;
  bool left = false;
};

ByteQueue::ByteQueue(const asio::any_io_executor& executor) : state_(std::make_shared<State>(executor)) {}

ByteQueue::~ByteQueue() = default;

void ByteQueue::push(Chunk chunk) {
  if (chunk.empty()) return;
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->left) return;
    state_->waiting += chunk.size();
    state_->chunks.push_back(std::move(chunk));
  }
  state_->arrived.notify_one();
}

void ByteQueue::close() { state_->set(state_->closed); }

void ByteQueue::give_up() { state_->set(state_->given_up); }

asio::awaitable<void> ByteQueue::wait_for_room() {
  const std::shared_ptr<State> state = state_;
  for (;;) {
    {
      const std::lock_guard lock(state->mutex);
      if (state->waiting < kRoom || state->left) co_return;
      state->asks_for_room = true;
    }
    co_await state->changed.wait();
  }
}

bool ByteQueue::is_left() const {
  const std::lock_guard lock(state_->mutex);
  return state_->left;
}

std::string_view ByteQueue::next() {
  std::unique_lock lock(state_->mutex);
  state_->arrived.wait(lock,
                       [this] { return !state_->chunks.empty() || state_->closed || state_->given_up; });
  if (state_->given_up) throw GivenUp();
  current_ = {};
  if (state_->chunks.empty()) return {};
  current_ = std::move(state_->chunks.front());
  state_->chunks.pop_front();
  state_->waiting -= current_.size();
  if (state_->waiting <= kRoom / 2) state_->tell();
  return current_.bytes();
}

void ByteQueue::leave() {
  const std::lock_guard lock(state_->mutex);
  state_->left = true;
  state_->chunks.clear();
  state_->waiting = 0;
  state_->tell();
}

asio::awaitable<void> write_while(std::shared_ptr<link::Stream> stream, asio::awaitable<void> writing,
                                  asio::awaitable<void> reading) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const auto aside = std::make_shared<Aside>(executor);
  asio::co_spawn(executor, std::move(writing), [aside, stream](const std::exception_ptr& error) {
    aside->ended = true;
    aside->error = error;
    if (error) stream->stop({.cause = link::Cause::abandoned});
    aside->changed.notify();
  });
  std::exception_ptr error;
  try {
    co_await std::move(reading);
  } catch (...) {
    error = std::current_exception();
  }
  stream->stop({.cause = link::Cause::abandoned});
  while (!aside->ended) co_await aside->changed.wait();
  if (aside->error) std::rethrow_exception(aside->error);
  if (error) std::rethrow_exception(error);
}

asio::awaitable<void> send_while(std::shared_ptr<link::Stream> stream, std::string text,
                                 asio::awaitable<void> reading) {
  asio::awaitable<void> writing = send(stream, std::move(text));
  co_await write_while(std::move(stream), std::move(writing), std::move(reading));
}

}  // namespace podrun::transfer
