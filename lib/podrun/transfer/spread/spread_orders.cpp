// SPDX-License-Identifier: Apache-2.0
// Tells the relays what SpreadPlan decides, and when the first host is held back.
#include <algorithm>
#include <optional>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "podrun/transfer/spread/spread_member.hpp"

namespace podrun::transfer {
namespace {

/// How long the first host is held back after the last one has come: for further hosts, and until those that
/// are here have joined another. SpreadPlan has given up on the latter then.
constexpr std::chrono::milliseconds kForArrivals{2500};
constexpr std::chrono::milliseconds kForJoins{5000};

using Clock = SpreadPlan::TimePoint::clock;

}  // namespace

void SpreadGroup::hold_back(TimePoint last_arrival, bool are_all_here) {
  last_arrival_ = last_arrival;
  are_all_here_ = are_all_here;
  set_timer();
  wake_fed();
}

bool SpreadGroup::holds_back() const {
  const auto age = Clock::now() - last_arrival_;
  if (of_host_) return false;  // hosts can get any part of it at any time
  return (!are_all_here_ && age < kForArrivals) || (!plan_.is_settled() && age < kForJoins);
}

void SpreadGroup::wake_fed() {
  for (auto& [host, member] : members_) {
    if (member->is_fed) member->changed.notify();  // it may be held back no longer
  }
}

void SpreadGroup::on(const SpreadEvent& event) {
  for (const SpreadAction& action : plan_.on(event, Clock::now()))
    std::visit([this](const auto& what) { act(what); }, action);
  set_timer();
  wake_fed();
}

/// Null for a host that is not served any more.
SpreadGroup::Member* SpreadGroup::find(std::size_t host) const {
  const auto found = members_.find(host);
  return found == members_.end() ? nullptr : found->second.get();
}

void SpreadGroup::act(const action::Listen& listen) {
  const Member* const parent = find(listen.host);
  if (!parent) return;
  order(listen.host, fmt::format("listen {} {}\n", parent->address, fmt::join(listen.children, ",")));
}

void SpreadGroup::act(const action::FromParent& from) {
  Member* const child = find(from.host);
  const Member* const parent = find(from.parent);
  if (!child || !parent) return;
  child->parent = from.parent;
  child->has_joined = false;
  order(from.host, fmt::format("parent {} {} {}\n", parent->address, parent->port, from.parent));
}

void SpreadGroup::act(const action::FromHere& from) { feed_from_here(from.host); }

void SpreadGroup::act(const action::Direct& direct) { feed_from_here(direct.host); }

void SpreadGroup::feed_from_here(std::size_t host) {
  Member* const member = find(host);
  if (!member || member->way != Member::Way::relay) return;
  member->is_fed = true;
  if (member->share.lost_because.empty()) member->share.lost_because = deaf_because_;
  order(host, "here\n");
}

void SpreadGroup::act(const action::Leave& leave) { order(leave.host, "leave\n"); }

void SpreadGroup::act(const action::Drop& drop) { order(drop.parent, fmt::format("drop {}\n", drop.child)); }

void SpreadGroup::order(std::size_t host, const std::string& frame) {
  Member* const member = find(host);
  if (!member) return;
  member->frames += frame;
  member->changed.notify();
}

/// For the next tick of the plan, and for the ends of holds_back().
void SpreadGroup::set_timer() {
  std::optional<TimePoint> next = plan_.next_tick();
  for (const TimePoint end : {last_arrival_ + kForArrivals, last_arrival_ + kForJoins}) {
    if (Clock::now() < end) next = std::min(next.value_or(end), end);
  }
  timer_.cancel();
  if (!next) return;
  timer_.expires_at(*next);
  timer_.async_wait([weak = weak_from_this()](const std::error_code& cancelled) {
    const std::shared_ptr<SpreadGroup> self = weak.lock();
    if (!cancelled && self) self->on(event::SpreadTick{});
  });
}

}  // namespace podrun::transfer
