// SPDX-License-Identifier: Apache-2.0
// Reads the source of the input once, on a thread of its own, and copies it to every host.
#include "podrun/run/input.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <limits>
#include <mutex>
#include <semaphore>
#include <utility>

#include <asio/post.hpp>

#include "podrun/base/event.hpp"
#include "podrun/base/expect.hpp"
#include "podrun/base/thread.hpp"

namespace podrun::run {
namespace {

constexpr std::size_t kChunksAhead = 32;
constexpr std::size_t kLeft = std::numeric_limits<std::size_t>::max();

/// Like read(2), but always waits: another process may have made the inherited descriptor non-blocking.
ssize_t read_some(int descriptor, std::array<char, Chunk::kMaxSize>& buffer) {
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count >= 0 || (errno != EINTR && errno != EAGAIN)) return count;
    pollfd readable{descriptor, POLLIN, 0};
    if (errno == EAGAIN) ::poll(&readable, 1, -1);
  }
}

/// The descriptor to read; -1 if the bytes are known.
int descriptor_of(const InputSource& source) {
  const int* descriptor = std::get_if<int>(&source.from);
  return descriptor ? *descriptor : -1;
}

}  // namespace

/// The part of an Input that its thread uses. A null context means closed: the thread must not destroy the
/// context or anything that lives on it.
struct Input::Reading {
  const int descriptor;
  std::counting_semaphore<> permits{0};  ///< of one chunk each
  std::mutex mutex;
  std::shared_ptr<asio::io_context> context;
};

/// Shared with feed(), which may outlive the Input.
class Input::State : public std::enable_shared_from_this<Input::State> {
 public:
  State(std::shared_ptr<asio::io_context> context, InputSource source, std::size_t hosts, OnError on_error)
      : name_(std::move(source.name)),
        reading_(std::make_shared<Reading>(descriptor_of(source))),
        on_error_(std::move(on_error)) {
    if (auto* known = std::get_if<std::vector<Chunk>>(&source.from)) {
      chunks_.assign(known->begin(), known->end());
      started_ = ended_ = true;
    }
    for (std::size_t host = 0; host < hosts; ++host) {
      positions_.push_back(0);
      arrivals_.push_back(std::make_unique<Event>(context->get_executor()));
    }
    reading_->context = std::move(context);
  }

  void start() {
    if (std::exchange(started_, true)) return;
    start_thread([reading = reading_, self = weak_from_this()] { read_all(reading, self); }).detach();
    reading_->permits.release(kChunksAhead);
  }
  void close() {
    std::shared_ptr<asio::io_context> context;
    {
      const std::lock_guard lock(reading_->mutex);
      context.swap(reading_->context);
    }
    reading_->permits.release();
    for (std::size_t host = 0; host < positions_.size(); ++host) leave(host);
  }

  static asio::awaitable<void> feed(std::shared_ptr<State> self, std::size_t host,
                                    std::shared_ptr<link::Stream> stream) {
    self->context_thread_.check("Input is for its context's thread");
    expect(host < self->positions_.size(), "Input::feed() is for a host of the run");
    self->start();
    std::size_t& position = self->positions_[host];
    while (position != kLeft) {
      if (position < self->begin_ + self->chunks_.size()) {
        const Chunk chunk = self->chunks_[position - self->begin_];
        const bool taken = co_await stream->write(chunk);
        if (!taken) break;
        if (position != kLeft) ++position;
        self->drop_taken();
      } else if (self->ended_) {
        break;
      } else {
        co_await self->arrivals_[host]->wait();
      }
    }
    self->leave(host);
  }

  void leave(std::size_t host) {
    positions_[host] = kLeft;
    arrivals_[host]->notify();
    drop_taken();
  }

 private:
  static void read_all(const std::shared_ptr<Reading>& reading, const std::weak_ptr<State>& state) {
    std::array<char, Chunk::kMaxSize> buffer{};
    for (bool ended = false; !ended;) {
      reading->permits.acquire();
      if (const std::lock_guard lock(reading->mutex); !reading->context) return;
      const ssize_t count = read_some(reading->descriptor, buffer);
      const std::error_code error(count < 0 ? errno : 0, std::system_category());
      ended = count <= 0;
      const Chunk chunk(std::string(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))));
      const std::lock_guard lock(reading->mutex);
      if (!reading->context) return;
      asio::post(*reading->context, [state, chunk, error] {
        if (const auto self = state.lock()) self->arrive(chunk, error);
      });
    }
  }

  void arrive(const Chunk& chunk, std::error_code error) {
    context_thread_.check("Input is for its context's thread");
    if (chunk.empty()) {
      ended_ = true;
      if (error && on_error_ && reading_->context) on_error_(name_, error);
    } else {
      chunks_.push_back(chunk);
    }
    for (const auto& arrival : arrivals_) arrival->notify();
  }

  /// Drops the chunks that every host has, and lets the thread read that many more.
  void drop_taken() {
    const std::size_t slowest = *std::min_element(positions_.begin(), positions_.end());
    for (; !chunks_.empty() && begin_ < slowest; ++begin_) {
      chunks_.pop_front();
      if (slowest != kLeft) reading_->permits.release();
    }
  }

  const OneThread context_thread_;
  const std::string name_;
  const std::shared_ptr<Reading> reading_;
  const OnError on_error_;
  std::deque<Chunk> chunks_;
  std::size_t begin_ = 0;  ///< number of the first of chunks_
  bool started_ = false;
  bool ended_ = false;
  std::vector<std::size_t> positions_;  ///< number of each host's next chunk
  std::vector<std::unique_ptr<Event>> arrivals_;
};

Input::Input(std::shared_ptr<asio::io_context> context, InputSource source, std::size_t hosts,
             OnError on_error)
    : state_(std::make_shared<State>(std::move(context), std::move(source), hosts, std::move(on_error))) {}

Input::~Input() { state_->close(); }

asio::awaitable<void> Input::feed(std::size_t host, std::shared_ptr<link::Stream> stream) {
  return State::feed(state_, host, std::move(stream));
}

void Input::leave(std::size_t host) { state_->leave(host); }

}  // namespace podrun::run
