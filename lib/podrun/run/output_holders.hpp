// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

#include "podrun/base/event.hpp"
#include "podrun/supervisor/supervised.hpp"

// Decides how long to wait for an output that stays open after its command has ended.
namespace podrun::run {

/// The processes that have an output open, as the host reports them.
class OutputHolders {
 public:
  /// somebody: also if the host cannot run the program that lists them.
  enum class Answer { none, nobody, somebody };

  explicit OutputHolders(const asio::any_io_executor& executor) : woken_(executor), patience_(executor) {}

  /// Asks the host; ends with the answer, or with `supervised`, which must outlive the coroutine.
  static asio::awaitable<void> ask(std::shared_ptr<OutputHolders> self, supervisor::Supervised& supervised) {
    Answer answer = Answer::somebody;
    try {
      self->names_ = co_await supervised.output_holders(self->started_);
      if (self->names_.named.empty()) answer = Answer::nobody;
    } catch (const link::HostError&) {
      // the host cannot tell
    }
    self->answer_ = answer;
    self->asked_ = false;
    self->woken_.notify();
  }
  /// Waits for the answer, at most five seconds.
  static asio::awaitable<void> wait(std::shared_ptr<OutputHolders> self) {
    wait_at_most(self, kPatience);
    co_await self->woken_.wait();
    const Clock::time_point due = self->patience_.expiry();
    self->patience_.cancel();
    if (self->answer_ == Answer::none && self->started_ && Clock::now() < due + kAway)
      self->answer_ = Answer::somebody;  // the network works, so the program hangs
  }
  /// Waits one more second at most: unknown processes cannot be stopped.
  static void hurry(const std::shared_ptr<OutputHolders>& self) {
    if (self->patience_.expiry() > Clock::now() + kHurriedPatience) wait_at_most(self, kHurriedPatience);
  }

  Answer answer() const { return answer_; }
  const supervisor::Holders& names() const { return names_; }
  bool is_asked() const { return asked_; }  ///< ask() has not ended

 private:
  using Clock = std::chrono::steady_clock;

  static constexpr std::chrono::seconds kPatience{5};
  static constexpr std::chrono::seconds kHurriedPatience{1};
  /// If a timer fires this much too late, podrun itself was stopped or busy, so the silence says nothing
  /// about the host.
  static constexpr std::chrono::seconds kAway{1};

  static void wait_at_most(const std::shared_ptr<OutputHolders>& self, std::chrono::seconds patience) {
    self->patience_.expires_after(patience);
    self->patience_.async_wait([self](const std::error_code& error) {
      if (!error) self->woken_.notify();
    });
  }

  Event woken_;
  asio::steady_timer patience_;
  bool asked_ = true;
  bool started_ = false;  ///< the host runs the program that answers
  Answer answer_ = Answer::none;
  supervisor::Holders names_;
};

/// Decides how long to wait for the trailing output of one command. The exit may arrive before the last
/// output of the command itself (RFC 4254 6.10 sets no order). Pure.
class TrailingOutput {
 public:
  /// lingers: processes that can be signalled have it open.
  enum class Fate { lingers, looked_at_again, let_go };

  void add(std::size_t bytes) { all_ += bytes; }

  /// Call at each look at the output.
  Fate decide(OutputHolders::Answer holders, const supervisor::Holders& names, bool reading_paused) {
    const bool stuck = std::all_of(names.named.begin(), names.named.end(),
                                   [](const supervisor::Holder& holder) { return !holder.stuck_at.empty(); });
    if (!names.named.empty() && !stuck) {
      lingered_ = true;
      stuck_looks_ = 0;
      return Fate::lingers;
    }
    if (!names.named.empty()) {
      stuck_looks_ = names == stuck_ ? stuck_looks_ + 1 : 1;
      stuck_ = names;
      return stuck_looks_ < kMostStuck ? Fate::looked_at_again : Fate::let_go;
    }
    // The host may be too busy to answer.
    if (lingered_ && holders != OutputHolders::Answer::nobody) return Fate::lingers;
    return is_awaited(holders, reading_paused) ? Fate::looked_at_again : Fate::let_go;
  }

  /// Whether to wait for more output. Call at each look, every few seconds.
  bool is_awaited(OutputHolders::Answer holders, bool reading_paused) {
    const std::uint64_t fresh = all_ - std::exchange(seen_, all_);
    if (all_ > kMostOnItsWay) return false;
    if (reading_paused || fresh >= kMuch) {
      quiet_looks_ = 0;
      return true;
    }
    ++quiet_looks_;
    if (holders == OutputHolders::Answer::none) return quiet_looks_ <= kMostUnanswered;
    return holders == OutputHolders::Answer::nobody && fresh > 0 && quiet_looks_ <= kMostTrickles;
  }

 private:
  /// The most output of a command that can still be on its way, in SSH windows, pipes and sockets.
  static constexpr std::uint64_t kMostOnItsWay = 4 << 20;
  /// If this much arrives between two looks, it was on its way when the command ended: remaining children
  /// print less, unless they flood.
  static constexpr std::uint64_t kMuch = 32 << 10;
  /// The most looks with less output. The host cannot see every child that prints: as root, in a container.
  static constexpr int kMostTrickles = 5;
  /// The most looks without an answer of the host. With default settings keep-alives find it lost earlier.
  static constexpr int kMostUnanswered = 8;
  /// The most looks that find only processes in the same uninterruptible sleep: their file server may be
  /// slow.
  static constexpr int kMostStuck = 5;

  std::uint64_t all_ = 0;
  std::uint64_t seen_ = 0;
  int quiet_looks_ = 0;
  bool lingered_ = false;
  supervisor::Holders stuck_;  ///< at the last look, if all were stuck
  int stuck_looks_ = 0;
};

}  // namespace podrun::run
