// SPDX-License-Identifier: Apache-2.0
#include "podrun/run/input.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <deque>
#include <limits>
#include <semaphore>
#include <thread>
#include <vector>

#include <asio/post.hpp>

#include "podrun/base/event.hpp"

namespace podrun {
namespace {

constexpr std::size_t kChunksAhead = 32;
constexpr std::size_t kLeft = std::numeric_limits<std::size_t>::max();

/// As read(2), but waits: the descriptor is inherited, and whoever shares it may have made it non-blocking.
ssize_t read_some(int descriptor, std::array<char, Chunk::kMaxSize>& buffer) {
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count >= 0 || (errno != EINTR && errno != EAGAIN)) return count;
    pollfd readable{descriptor, POLLIN, 0};
    if (errno == EAGAIN) ::poll(&readable, 1, -1);
  }
}

}  // namespace

/// All but the thread's loop runs on the context. The thread reads one chunk for each permit.
class Input::State : public std::enable_shared_from_this<Input::State> {
 public:
  State(std::shared_ptr<asio::io_context> context, int descriptor, std::size_t hosts, OnError on_error)
      : context_(std::move(context)), descriptor_(descriptor), on_error_(std::move(on_error)) {
    for (std::size_t host = 0; host < hosts; ++host) {
      positions_.push_back(0);
      arrivals_.push_back(std::make_unique<Event>(context_->get_executor()));
    }
  }

  void start() {
    if (std::exchange(started_, true)) return;
    std::thread(read_all, shared_from_this()).detach();
    permits_.release(kChunksAhead);
  }
  void close() {
    closed_ = true;
    permits_.release();
  }

  asio::awaitable<void> feed(std::size_t host, std::shared_ptr<Stream> stream) {
    start();
    while (positions_[host] != kLeft) {
      if (positions_[host] < begin_ + chunks_.size()) {
        const Chunk chunk = chunks_[positions_[host] - begin_];
        const bool taken = co_await stream->write(chunk);
        if (!taken) break;
        if (positions_[host] != kLeft) ++positions_[host];
        drop_taken();
      } else if (ended_) {
        break;
      } else {
        co_await arrivals_[host]->wait();
      }
    }
    leave(host);
  }

  void leave(std::size_t host) {
    positions_[host] = kLeft;
    arrivals_[host]->notify();
    drop_taken();
  }

 private:
  static void read_all(std::shared_ptr<State> self) {
    std::array<char, Chunk::kMaxSize> buffer{};
    for (;;) {
      self->permits_.acquire();
      const ssize_t count = self->closed_ ? 0 : read_some(self->descriptor_, buffer);
      const std::error_code error(count < 0 ? errno : 0, std::system_category());
      const Chunk chunk(std::string(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))));
      asio::post(*self->context_, [self, chunk, error] { self->arrive(chunk, error); });
      if (chunk.empty()) return;
    }
  }

  void arrive(const Chunk& chunk, std::error_code error) {
    if (chunk.empty()) {
      ended_ = true;
      if (error && on_error_ && !closed_) on_error_(error);
    } else {
      chunks_.push_back(chunk);
    }
    for (const auto& arrival : arrivals_) arrival->notify();
  }

  /// Forgets the chunks that every host has, and lets the thread read as many more.
  void drop_taken() {
    const std::size_t slowest = *std::min_element(positions_.begin(), positions_.end());
    for (; !chunks_.empty() && begin_ < slowest; ++begin_) {
      chunks_.pop_front();
      if (slowest != kLeft) permits_.release();
    }
  }

  std::shared_ptr<asio::io_context> context_;
  const int descriptor_;
  const OnError on_error_;
  std::counting_semaphore<> permits_{0};
  std::atomic<bool> closed_ = false;
  std::deque<Chunk> chunks_;
  std::size_t begin_ = 0;  ///< number of the first of chunks_
  bool started_ = false;
  bool ended_ = false;
  std::vector<std::size_t> positions_;  ///< number of each host's next chunk
  std::vector<std::unique_ptr<Event>> arrivals_;
};

Input::Input(std::shared_ptr<asio::io_context> context, int descriptor, std::size_t hosts, OnError on_error)
    : state_(std::make_shared<State>(std::move(context), descriptor, hosts, std::move(on_error))) {}

Input::~Input() { state_->close(); }

asio::awaitable<void> Input::feed(std::size_t host, std::shared_ptr<Stream> stream) {
  return state_->feed(host, std::move(stream));
}

void Input::leave(std::size_t host) { state_->leave(host); }

}  // namespace podrun
