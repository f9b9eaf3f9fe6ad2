// SPDX-License-Identifier: Apache-2.0
#include "podrun/files/byte_queue.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include <asio/post.hpp>

#include "podrun/base/event.hpp"

namespace podrun::files {

/// Shared with the handlers that are on their way to the executor.
struct ByteQueue::State : public std::enable_shared_from_this<ByteQueue::State> {
  explicit State(const asio::any_io_executor& its_executor) : executor(its_executor), changed(its_executor) {}

  bool has_room() const { return waiting < kRoom || left; }
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

void ByteQueue::close() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->closed = true;
  }
  state_->arrived.notify_one();
}

void ByteQueue::give_up() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->given_up = true;
  }
  state_->arrived.notify_one();
}

asio::awaitable<void> ByteQueue::wait_for_room() {
  const std::shared_ptr<State> state = state_;
  for (;;) {
    {
      const std::lock_guard lock(state->mutex);
      if (state->has_room()) co_return;
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

}  // namespace podrun::files
