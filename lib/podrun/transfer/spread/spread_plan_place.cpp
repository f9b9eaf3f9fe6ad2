// SPDX-License-Identifier: Apache-2.0
// Which parent a host gets, or whether podrun feeds it.
//
// A parent is fed by podrun (level 0), or joined such a host (level 1), and a host with children becomes only
// a child of the former. So there are two levels below podrun's seeds, and no cycle: a parent's own source is
// podrun or a host that podrun feeds, and neither is the child, which has none.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "podrun/transfer/spread/spread_plan.hpp"

namespace podrun::transfer {

/// Gives a source to the hosts that seek one, except those that may soon get a better one.
void SpreadPlan::place() {
  for (;;) {
    std::vector<std::size_t> seeking;
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      if (hosts_[host].state == State::seeking) seeking.push_back(host);
    }
    std::stable_sort(seeking.begin(), seeking.end(), [this](std::size_t left, std::size_t right) {
      const auto key = [](const Host& host) { return std::pair(host.children == 0, host.offset); };
      return key(hosts_[left]) < key(hosts_[right]);  // hosts with children have the smaller choice
    });
    std::optional<std::size_t> stuck;
    for (const std::size_t host : seeking) {
      if (const std::optional<std::size_t> parent = parent_for(host)) {
        attach(host, *parent);
      } else if (!has_hope(hosts_[host]) && (!stuck || hosts_[host].offset < hosts_[*stuck].offset)) {
        stuck = host;
      }
    }
    if (!stuck) return;
    feed_stuck(*stuck);  // others may join it
  }
}

void SpreadPlan::ask_to_listen() {
  std::map<std::size_t, std::vector<std::size_t>> asked;
  for (std::size_t child = 0; child < hosts_.size(); ++child) {
    Host& host = hosts_[child];
    if (host.state != State::queued || hosts_[*host.parent].port_until) continue;
    host.state = State::asked;
    asked[*host.parent].push_back(child);
  }
  for (auto& [host, children] : asked) {
    hosts_[host].port_until = now_ + patience();
    actions_.emplace_back(action::Listen{host, std::move(children)});
  }
}

/// The one that has the files. Else at level 0 the nearest behind the host: At says how far a parent is with
/// a delay, so one that is ahead may have gone too far. At level 1 the one with the fewest children.
std::optional<std::size_t> SpreadPlan::parent_for(std::size_t number) const {
  const Host& host = hosts_[number];
  if (has_given_up_ || host.is_slow) return std::nullopt;
  std::optional<std::size_t> best;
  std::tuple<bool, std::size_t, bool, std::uint64_t> best_rank;
  for (std::size_t other = 0; other < hosts_.size(); ++other) {
    const Host& parent = hosts_[other];
    if (!can_serve(parent) || !is_near(parent, host) || parent.address == host.address) continue;
    if (host.lost == other || (parent.parent && host.children > 0)) continue;
    const bool is_ahead = parent.offset > host.offset;
    const std::uint64_t apart = is_ahead ? parent.offset - host.offset : host.offset - parent.offset;
    const std::tuple rank(!parent.has_files, parent.parent ? 1 + parent.children : 0, is_ahead, apart);
    if (best && best_rank <= rank) continue;
    best = other;
    best_rank = rank;
  }
  return best;
}

/// Whether it is at level 0 or 1 and may get another child.
bool SpreadPlan::can_serve(const Host& parent) const {
  if (parent.is_leaf || parent.children >= parent.most_children) return false;
  if (parent.state == State::here) return parent.is_seed || seeds_ < limits_.most_seeds;
  return parent.state == State::joined && hosts_[*parent.parent].state == State::here;
}

/// Whether the parent has the next byte of the host in its window, or soon will.
bool SpreadPlan::is_near(const Host& parent, const Host& host) const {
  return parent.has_files ||
         (parent.offset <= host.offset + limits_.window && host.offset <= parent.offset + limits_.window);
}

/// Whether a host is about to come to level 1 that could be its parent.
bool SpreadPlan::has_hope(const Host& host) const {
  if (has_given_up_ || host.is_slow || host.children > 0 || now_ >= host.since + patience()) return false;
  return std::any_of(hosts_.begin(), hosts_.end(), [&](const Host& other) {
    return other.parent && other.state != State::joined && !other.is_leaf && other.address != host.address &&
           hosts_[*other.parent].state == State::here && is_near(hosts_[*other.parent], host);
  });
}

/// As a seed, if others may join it.
void SpreadPlan::feed_stuck(std::size_t number) {
  const Host& host = hosts_[number];
  const auto any = [this](auto is) { return std::any_of(hosts_.begin(), hosts_.end(), is); };
  const auto is_first_seed = [](const Host& other) {
    return other.source.reason == HereReason::seed && other.state != State::gone;
  };
  const auto may_join = [&](const Host& other) {
    return &other != &host && (other.state == State::absent || other.state == State::seeking);
  };
  if (has_given_up_) return feed(number, HereReason::nothing_works);
  if (host.parents > 0) return feed(number, reason_of(host));
  if (!any(is_first_seed)) return feed(number, HereReason::seed);
  if (seeds_ < limits_.most_seeds && any(may_join)) return feed(number, HereReason::too_late);
  feed_directly(number, HereReason::too_late);
}

HereReason SpreadPlan::reason_of(const Host& host) {
  if (host.is_slow) return HereReason::too_slow;
  return host.never_joined ? HereReason::unreachable : HereReason::lost_parent;
}

void SpreadPlan::feed(std::size_t number, HereReason reason) {
  Host& host = hosts_[number];
  if (has_given_up_ && host.parents == 0) return feed_directly(number, reason);
  host.state = State::here;
  host.most_children = host.children + limits_.width;
  host.source = {.reason = reason, .lost = host.lost};
  actions_.emplace_back(action::FromHere{number, host.offset});
}

void SpreadPlan::feed_directly(std::size_t number, HereReason reason) {
  hosts_[number].state = State::direct;
  hosts_[number].source = {.reason = reason};
  actions_.emplace_back(action::Direct{number});
}

}  // namespace podrun::transfer
