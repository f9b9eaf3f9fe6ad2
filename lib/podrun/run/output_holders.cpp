// SPDX-License-Identifier: Apache-2.0
#include "podrun/run/output_holders.hpp"

#include <algorithm>
#include <utility>

namespace podrun::run {

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
  wait_at_most(self, kLimit);
  co_await self->woken_.wait();
  const Clock::time_point due = self->limit_.expiry();
  self->limit_.cancel();
  if (self->answer_ == Answer::none && self->started_ && Clock::now() < due + kAway)
    self->answer_ = Answer::somebody;  // the network works, so the program hangs
}

void OutputHolders::hurry(const std::shared_ptr<OutputHolders>& self) {
  if (self->limit_.expiry() > Clock::now() + kHurriedLimit) wait_at_most(self, kHurriedLimit);
}

void OutputHolders::wait_at_most(const std::shared_ptr<OutputHolders>& self, std::chrono::seconds limit) {
  self->limit_.expires_after(limit);
  self->limit_.async_wait([self](const std::error_code& error) {
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
