// SPDX-License-Identifier: Apache-2.0
// How long podrun waits for the output of a command that has ended.
#include "podrun/run/output_holders.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace podrun::run {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{5};
constexpr std::chrono::seconds kHurriedPatience{1};
/// If a timer fires this much too late, podrun itself was stopped or busy, so the silence says nothing about
/// the host.
constexpr std::chrono::seconds kAway{1};

/// The most output of a command that can still be on its way, in SSH windows, pipes and sockets.
constexpr std::uint64_t kMostOnItsWay = 4 << 20;
/// If this much arrives between two looks, it was on its way when the command ended: remaining children print
/// less, unless they flood.
constexpr std::uint64_t kMuch = 32 << 10;
/// The most looks with less output. The host cannot see every child that prints: as root, in a container.
constexpr int kMostTrickles = 5;
/// The most looks without an answer of the host. With default settings keep-alives find it lost earlier.
constexpr int kMostUnanswered = 8;
/// The most looks that find only processes in the same uninterruptible sleep: their file server may be slow.
constexpr int kMostStuck = 5;

}  // namespace

OutputHolders::OutputHolders(const asio::any_io_executor& executor) : woken_(executor), patience_(executor) {}

asio::awaitable<void> OutputHolders::ask(std::shared_ptr<OutputHolders> self,
                                         supervisor::Supervised& supervised) {
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

asio::awaitable<void> OutputHolders::wait(std::shared_ptr<OutputHolders> self) {
  wait_at_most(self, kPatience);
  co_await self->woken_.wait();
  const Clock::time_point due = self->patience_.expiry();
  self->patience_.cancel();
  if (self->answer_ == Answer::none && self->started_ && Clock::now() < due + kAway)
    self->answer_ = Answer::somebody;  // the network works, so the program hangs
}

void OutputHolders::hurry(const std::shared_ptr<OutputHolders>& self) {
  if (self->patience_.expiry() > Clock::now() + kHurriedPatience) wait_at_most(self, kHurriedPatience);
}

void OutputHolders::wait_at_most(const std::shared_ptr<OutputHolders>& self, std::chrono::seconds patience) {
  self->patience_.expires_after(patience);
  self->patience_.async_wait([self](const std::error_code& error) {
    if (!error) self->woken_.notify();
  });
}

TrailingOutput::Fate TrailingOutput::decide(OutputHolders::Answer holders, const supervisor::Holders& names,
                                            bool reading_paused) {
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

bool TrailingOutput::is_awaited(OutputHolders::Answer holders, bool reading_paused) {
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

}  // namespace podrun::run
