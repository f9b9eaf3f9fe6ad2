// SPDX-License-Identifier: Apache-2.0
#include "podrun/run/output_holders.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace podrun::run {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{5};
constexpr std::chrono::seconds kHurriedPatience{1};
/// Who comes so much later to see that the time is over has been stopped or busy, and knows nothing of the
/// host.
constexpr std::chrono::seconds kAway{1};

/// Of what a command printed no more can be on its way: in windows of SSH, pipes and sockets.
constexpr std::uint64_t kMostOnItsWay = 4 << 20;
/// Where this comes from look to look it is what was on its way; a child prints less, but for one that
/// floods.
constexpr std::uint64_t kMuch = 32 << 10;
/// Looks with less. A child may print though the host does not see it: as root, in a container.
constexpr int kMostTrickles = 5;
/// With nothing heard of the host: longer than the keep-alives need, by default, to find it lost.
constexpr int kMostUnanswered = 8;
/// With nothing but processes in an uninterruptible sleep that has not ended since the look before: the
/// server of their file may be slow, but answers at some time.
constexpr int kMostStuck = 5;

}  // namespace

OutputHolders::OutputHolders(const asio::any_io_executor& executor) : woken_(executor), patience_(executor) {}

asio::awaitable<void> OutputHolders::ask(std::shared_ptr<OutputHolders> self,
                                         remote::Supervised& supervised) {
  Answer answer = Answer::somebody;
  try {
    self->names_ = co_await supervised.output_holders(self->started_);
    if (self->names_.named.empty()) answer = Answer::nobody;
  } catch (const link::HostError&) {
    // it does not say
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
    self->answer_ = Answer::somebody;  // the network is well, and that program hangs
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

TrailingOutput::Fate TrailingOutput::decide(OutputHolders::Answer holders, const remote::Holders& names,
                                            bool held_back) {
  const bool stuck = std::all_of(names.named.begin(), names.named.end(),
                                 [](const remote::Holder& holder) { return !holder.stuck_at.empty(); });
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
  // Its host may be too busy to answer.
  if (lingered_ && holders != OutputHolders::Answer::nobody) return Fate::lingers;
  return is_awaited(holders, held_back) ? Fate::looked_at_again : Fate::let_go;
}

bool TrailingOutput::is_awaited(OutputHolders::Answer holders, bool held_back) {
  const std::uint64_t fresh = all_ - std::exchange(seen_, all_);
  if (all_ > kMostOnItsWay) return false;
  if (held_back || fresh >= kMuch) {
    quiet_looks_ = 0;
    return true;
  }
  ++quiet_looks_;
  if (holders == OutputHolders::Answer::none) return quiet_looks_ <= kMostUnanswered;
  return holders == OutputHolders::Answer::nobody && fresh > 0 && quiet_looks_ <= kMostTrickles;
}

}  // namespace podrun::run
