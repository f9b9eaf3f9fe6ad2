// SPDX-License-Identifier: Apache-2.0
#include "podrun/run/output_holders.hpp"

#include <chrono>
#include <utility>

#include <asio/steady_timer.hpp>
#include <fmt/format.h>

#include "podrun/output/escape.hpp"

namespace podrun {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{5};
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

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + escape_controls(text);
  return all;
}

}  // namespace

OutputHolders::OutputHolders(const asio::any_io_executor& executor) : executor_(executor), woken_(executor) {}

asio::awaitable<void> OutputHolders::ask(std::shared_ptr<OutputHolders> self, Supervised& supervised) {
  Answer answer = Answer::somebody;
  try {
    self->names_ = co_await supervised.output_holders(self->started_);
    if (self->names_.empty()) answer = Answer::nobody;
  } catch (const HostError&) {
    // it does not say
  }
  self->answer_ = answer;
  self->asked_ = false;
  self->woken_.notify();
}

asio::awaitable<void> OutputHolders::wait(std::shared_ptr<OutputHolders> self) {
  const Clock::time_point due = Clock::now() + kPatience;
  asio::steady_timer patience(self->executor_, due);
  patience.async_wait([self](const std::error_code& error) {
    if (!error) self->woken_.notify();
  });
  co_await self->woken_.wait();
  if (self->answer_ == Answer::none && self->started_ && Clock::now() < due + kAway)
    self->answer_ = Answer::somebody;  // the network is well, and that program hangs
}

std::string OutputHolders::describe() const {
  if (answer_ == Answer::none) return "its host does not answer";
  return fmt::format("{} holds its output open", names_.empty() ? "something" : "pid " + joined(names_));
}

bool LateOutput::is_awaited(OutputHolders::Answer holders, bool held_back) {
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

}  // namespace podrun
