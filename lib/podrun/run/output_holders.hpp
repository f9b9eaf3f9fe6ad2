// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

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

  explicit OutputHolders(const asio::any_io_executor& executor) : woken_(executor), limit_(executor) {}

  /// Asks the host, once; ends with the answer, or with `supervised`, which must outlive the coroutine.
  static asio::awaitable<void> ask(std::shared_ptr<OutputHolders> self, supervisor::Supervised& supervised);
  /// Waits for the answer, at most five seconds.
  static asio::awaitable<void> wait(std::shared_ptr<OutputHolders> self);
  /// Waits one more second at most.
  static void hurry(const std::shared_ptr<OutputHolders>& self);

  Answer answer() const { return answer_; }
  const supervisor::Holders& names() const { return names_; }
  bool is_asked() const { return asked_; }  ///< ask() has not ended

 private:
  using Clock = std::chrono::steady_clock;

  static constexpr std::chrono::seconds kLimit{5};
  static constexpr std::chrono::seconds kHurriedLimit{1};
  /// If a timer fires this much too late, podrun itself was stopped or busy, so the silence says nothing
  /// about the host.
  static constexpr std::chrono::seconds kAway{1};

  static void wait_at_most(const std::shared_ptr<OutputHolders>& self, std::chrono::seconds limit);

  Event woken_;
  asio::steady_timer limit_;
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
  Fate decide(OutputHolders::Answer holders, const supervisor::Holders& names, bool reading_paused);

  /// Whether to wait for more output. Call at each look, every few seconds.
  bool is_awaited(OutputHolders::Answer holders, bool reading_paused);

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
