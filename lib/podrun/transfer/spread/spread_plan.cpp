// SPDX-License-Identifier: Apache-2.0
// Which host hands the archive on to which one, and what happens after a loss. A host gets a new source only
// after it has said that it lost the last one, so it never has two, and podrun knows the exact offset.
#include "podrun/transfer/spread/spread_plan.hpp"

#include <algorithm>
#include <utility>

namespace podrun::transfer {

std::vector<SpreadAction> SpreadPlan::on(const SpreadEvent& event, TimePoint now) {
  now_ = now;
  std::visit([this](const auto& what) { handle(what); }, event);
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    if (hosts_[host].port_until && now_ >= *hosts_[host].port_until) handle(event::Deaf{host});
  }
  if (!waits_for_files_) decide();
  return std::exchange(actions_, {});
}

void SpreadPlan::decide() {
  if (collect_until_ && now_ >= *collect_until_) settle();
  if (is_in_doubt()) return;
  place();
  ask_to_listen();
}

std::optional<SpreadPlan::TimePoint> SpreadPlan::next_tick() const {
  std::optional<TimePoint> next;
  const auto add = [&](TimePoint due) { next = std::min(next.value_or(due), due); };
  for (const Host& host : hosts_) {
    if (host.port_until) add(*host.port_until);
    if (host.state == State::seeking && !waits_for_files_ && !is_in_doubt()) add(host.since + patience());
  }
  if (collect_until_ && !waits_for_files_) add(*collect_until_);
  return next;
}

SpreadStanding SpreadPlan::standing(std::size_t number) const {
  using Parent = SpreadStanding::Parent;
  constexpr std::uint64_t kApart = 4U << 20U;  // a parent that is less ahead may just have got it
  constexpr std::uint64_t kStates = 16;
  const Host& host = hosts_[number];
  SpreadStanding standing{.offset = host.offset,
                          .changes = host.parents * kStates + static_cast<std::uint64_t>(host.state)};
  standing.serves_others = std::any_of(hosts_.begin(), hosts_.end(), [&](const Host& other) {
    return other.parent == number && was_told(other) && other.offset < size_;
  });
  if (host.state == State::leaving) standing.parent = Parent::is_over;
  if (!was_told(host)) return standing;
  const Host& parent = hosts_[*host.parent];
  standing.parent = Parent::waits;
  if (parent.offset > host.offset + kApart) standing.parent = Parent::is_ahead;
  if (parent.offset >= size_) standing.parent = parent.has_files ? Parent::is_ahead : Parent::has_all;
  if (is_over(parent)) standing.parent = Parent::is_over;
  return standing;
}

bool SpreadPlan::is_settled() const {
  return std::all_of(hosts_.begin(), hosts_.end(), [this](const Host& host) {
    return host.offset >= size_ || host.state == State::absent || host.state == State::joined ||
           host.state == State::here || host.state == State::direct || is_over(host);
  });
}

void SpreadPlan::handle(const event::SpreadReady& ready) {
  Host& host = hosts_[ready.host];
  if (host.state == State::done)
    handle(event::Gone{ready.host});  // it was lost while it waited for the others
  if (host.state != State::absent && host.state != State::gone) return;
  host = Host{.address = ready.address, .most_children = limits_.width};
  if (ready.has_files) return begin_with(ready.host, ready.can_relay);
  seek(host);
  if (!ready.can_relay) feed_directly(ready.host, HereReason::cannot_relay);
}

/// The patience of those that waited for it begins.
void SpreadPlan::begin_with(std::size_t number, bool can_relay) {
  Host& host = hosts_[number];
  host.state = State::here;
  host.offset = size_;
  host.has_files = host.is_seed = true;
  host.is_leaf = !can_relay;
  host.source = {.reason = HereReason::seed};
  ++seeds_;
  waits_for_files_ = false;
  for (Host& each : hosts_) {
    if (each.state == State::seeking) each.since = now_;
  }
}

void SpreadPlan::handle(const event::Port& port) {
  hosts_[port.host].port_until.reset();
  for (std::size_t child = 0; child < hosts_.size(); ++child) {
    Host& host = hosts_[child];
    if (host.parent != port.host || host.state != State::asked) continue;
    host.state = State::joining;
    ++host.parents;
    actions_.emplace_back(action::FromParent{child, port.host});
  }
}

void SpreadPlan::handle(const event::Deaf& deaf) {
  hosts_[deaf.host].port_until.reset();
  close(deaf.host);
}

void SpreadPlan::handle(const event::Joined& joined) {
  Host& host = hosts_[joined.host];
  if (host.state != State::joining) return;
  host.state = State::joined;
  host.source = {.parent = host.parent};
  hosts_[*host.parent].has_served = has_worked_ = true;
}

void SpreadPlan::handle(const event::At& at) {
  Host& host = hosts_[at.host];
  if (host.state == State::absent || is_over(host)) return;
  host.offset = std::max(host.offset, at.offset);
}

void SpreadPlan::handle(const event::LostParent& lost) {
  Host& host = hosts_[lost.host];
  if (!was_told(host) && host.state != State::leaving) return;
  host.offset = std::min(lost.offset, size_);
  host.blames = was_told(host);
  host.never_joined = lost.never_joined && host.state != State::joined;
  if (host.blames) drop(lost.host);
  host.state = State::lost;
  if (has_given_up_ || host.is_slow) return seek(host);
  if (host.blames && host.parents >= (host.never_joined ? 2 : kMostParents)) {
    blame_parent(host);
    close(lost.host);
    return feed(lost.host, reason_of(host));
  }
  collect_until_ = collect_until_.value_or(now_ + limits_.collect);
}

/// The child may have said LostParent before this.
void SpreadPlan::handle(const event::Dropped& dropped) {
  if (!dropped.was_slow || dropped.child >= hosts_.size()) return;
  const Host& child = hosts_[dropped.child];
  if (child.parent.value_or(child.lost.value_or(dropped.child)) == dropped.parent)
    handle(event::Slow{dropped.child});
}

/// The host keeps its parent until LostParent says that it has left.
void SpreadPlan::handle(const event::Stalled& stalled) {
  const Host& host = hosts_[stalled.host];
  if (was_told(host) || host.state == State::leaving) actions_.emplace_back(action::Leave{stalled.host});
}

void SpreadPlan::handle(const event::Slow& slow) {
  Host& host = hosts_[slow.host];
  if (host.state == State::absent || is_over(host)) return;
  host.is_slow = true;
  close(slow.host);
  for (std::size_t child = 0; child < hosts_.size(); ++child) {
    if (hosts_[child].parent != slow.host) continue;
    drop(child);
    hosts_[child].moves = true;
  }
}

void SpreadPlan::handle(const event::Gone& gone) {
  close(gone.host);
  if (hosts_[gone.host].parent) drop(gone.host);
  hosts_[gone.host].state = State::gone;
  waits_for_files_ = waits_for_files_ || std::exchange(hosts_[gone.host].has_files, false);
  hosts_[gone.host].port_until.reset();
  for (std::size_t child = 0; child < hosts_.size(); ++child) {
    if (hosts_[child].parent == gone.host) drop(child);
  }
}

/// Its children have everything, or say that they lost it. Its own parent need not wait for it any more.
void SpreadPlan::handle(const event::Done& done) {
  Host& host = hosts_[done.host];
  if (host.state == State::absent || is_over(host)) return;
  close(done.host);
  if (host.parent) drop(done.host);
  host.state = State::done;
  host.offset = size_;
  host.port_until.reset();
}

/// The time for collecting losses is over. Before any host has joined another, one that could not says little
/// of those that still try.
void SpreadPlan::settle() {
  const auto is_joining = [](const Host& host) { return host.state == State::joining; };
  if (!has_worked_ && std::any_of(hosts_.begin(), hosts_.end(), is_joining)) {
    collect_until_ = now_ + limits_.collect;
    return;
  }
  collect_until_.reset();
  std::vector<std::size_t> lost;
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    if (hosts_[host].state == State::lost) lost.push_back(host);
  }
  for (const std::size_t host : lost)
    has_given_up_ = has_given_up_ || (!has_worked_ && hosts_[host].blames && hosts_[host].never_joined);
  for (Host& host : hosts_) {
    if (!has_given_up_ || !host.parent || was_told(host)) continue;
    detach(host);
    seek(host);
  }
  std::optional<std::size_t> furthest_behind;
  std::size_t failures = 0;
  for (const std::size_t number : lost) {
    Host& host = hosts_[number];
    blame_parent(host);
    seek(host);
    if (std::exchange(host.moves, false) || host.is_slow || has_given_up_) continue;
    ++failures;
    if (seeds_ >= limits_.most_seeds) {
      feed(number, reason_of(host));
    } else if (!host.is_leaf && (!furthest_behind || host.offset < hosts_[*furthest_behind].offset)) {
      furthest_behind = number;
    }
  }
  // A single one costs podrun the same if it tries another parent first, and less if that works.
  if (furthest_behind && failures > 1) feed(*furthest_behind, reason_of(hosts_[*furthest_behind]));
}

/// A parent that has no source itself is not at fault, and neither is one that others could join.
void SpreadPlan::blame_parent(const Host& host) {
  if (!host.blames) return;
  const Host& parent = hosts_[*host.lost];
  const bool is_fed = parent.state == State::here || parent.state == State::joined;
  if (is_fed && (!host.never_joined || !parent.has_served)) close(*host.lost);
}

void SpreadPlan::seek(Host& host) {
  host.state = State::seeking;
  host.since = now_;
}

void SpreadPlan::attach(std::size_t number, std::size_t parent_number) {
  Host& parent = hosts_[parent_number];
  if (parent.state == State::here && !std::exchange(parent.is_seed, true)) ++seeds_;
  ++parent.children;
  hosts_[number].state = State::queued;
  hosts_[number].parent = parent_number;
}

void SpreadPlan::detach(Host& host) {
  --hosts_[*host.parent].children;
  host.parent.reset();
}

/// Takes the parent from a host. If it was told, the next that it says is LostParent.
void SpreadPlan::drop(std::size_t number) {
  Host& host = hosts_[number];
  if (was_told(host)) {
    host.lost = host.parent;
    if (!is_over(hosts_[*host.parent])) actions_.emplace_back(action::Drop{*host.parent, number});
  }
  host.state = State::leaving;
  detach(host);
  release(number);
}

/// The host gets no more children. Children that were told to join it stay.
void SpreadPlan::close(std::size_t number) {
  hosts_[number].is_leaf = true;
  release(number);
}

/// Children that were not told to join the host seek another parent.
void SpreadPlan::release(std::size_t number) {
  for (Host& child : hosts_) {
    if (child.parent != number || was_told(child)) continue;
    detach(child);
    seek(child);
  }
}

}  // namespace podrun::transfer
