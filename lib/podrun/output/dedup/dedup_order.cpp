// SPDX-License-Identifier: Apache-2.0
// The order in which shared lines are shown, so that no host's own lines change their order.
#include "podrun/output/dedup/dedup_order.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace podrun::output {
namespace {

/// kGap is the distance between entries put at the end; one inserted between two takes 1/kParts of their
/// distance. That is enough for thousands at one spot, and more between those, until all are renumbered.
constexpr DedupPlace kGap = DedupPlace{1} << 36U;
constexpr DedupPlace kParts = 1024;
constexpr DedupPlace kEnd = std::numeric_limits<DedupPlace>::max();

/// The most entries that one search visits, so that the cost of a line is bounded.
constexpr std::size_t kLookedAt = 256;
constexpr std::size_t kMostHeld = 4096;  ///< the same, where lines that may be late are skipped

bool intersect(const DedupHosts& a, const DedupHosts& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if ((a[i] & b[i]) != 0) return true;
  }
  return false;
}

std::size_t count(const DedupHosts& hosts) {
  std::size_t sum = 0;
  for (const std::uint64_t word : hosts) sum += static_cast<std::size_t>(std::popcount(word));
  return sum;
}

}  // namespace

void DedupOrder::add_host() {
  hosts_.emplace_back();
  ++before_all_;
}

bool DedupOrder::may_say(std::size_t host, const DedupEntry& entry) const {
  return !entry.has(host) && (entry.shown || entry.place > hosts_[host].said.place);
}

DedupEntry* DedupOrder::next_of(std::size_t host) const {
  const Mark& stand = hosts_[host].stand;
  return is_here(stand) ? stand.entry->next : list_.first;
}

DedupPhrase::Found DedupOrder::find(std::size_t host, const DedupPhrase& phrase) const {
  return phrase.first_after(joins_after(host), host);
}

DedupEntry* DedupOrder::find_shown(std::size_t host, const DedupPhrase& phrase) const {
  auto [entry, placed_after] = phrase.first_after(hosts_[host].stand.place, host);
  if (entry && placed_after > 1 && entry->shown && !is_next(host, *entry)) return nullptr;
  if (!entry && phrase.entries == 1 && !phrase.placed.empty()) entry = phrase.placed.back();
  return entry && entry->shown && !entry->has(host) ? entry : nullptr;
}

bool DedupOrder::is_next(std::size_t host, const DedupEntry& entry) const {
  const DedupEntry* between = next_of(host);
  for (std::size_t passed = 0; between != &entry; between = between->next) {
    if (will_say(host, *between) || ++passed > kLookedAt) return false;
  }
  return true;
}

bool DedupOrder::leaves_out(std::size_t host, const DedupEntry* end) const {
  std::size_t looked_at = 0;
  for (const DedupEntry* each = next_of(host); each != end; each = each->next) {
    if (!each) return false;  // the end floats, or the host is beyond it
    if (++looked_at > kMostHeld || !(each->repeats || each->has(host))) return true;
  }
  return false;
}

DedupEntry* DedupOrder::first_not_held(DedupPlace after) const {
  DedupEntry* entry = first_open_;
  while (entry && (entry->repeats || entry->place <= after)) entry = entry->next;
  return entry;
}

DedupEntry* DedupOrder::last_open_of(std::size_t host) const {
  const Mark& said = hosts_[host].said;
  return is_here(said) && said.place > last_shown_ ? said.entry : nullptr;
}

/// A guess: true if several hosts have it and, once it was shown and all hosts had time, more than half do.
bool DedupOrder::will_say(std::size_t host, const DedupEntry& entry) const {
  if (!entry.several_hosts || !may_say(host, entry)) return false;
  return !entry.shown || 2 * count(entry.hosts) > asked(entry);
}

DedupPlace DedupOrder::joins_after(std::size_t host) const {
  return std::max(hosts_[host].said.place, last_shown_);
}

void DedupOrder::put(DedupEntry& entry, DedupPlace after, DedupEntry* before) {
  for (std::size_t looked_at = 0; looked_at < kLookedAt; ++looked_at) {
    DedupEntry* const previous = before ? before->previous : list_.last;
    if (!previous || previous->place <= after || previous->time <= entry.time) break;
    before = previous;
  }
  insert(entry, before);
}

void DedupOrder::insert(DedupEntry& entry, DedupEntry* before) {
  if (room_before(before) <= (before ? 1 : kGap)) renumber();
  const DedupPlace room = room_before(before);
  if (first_open_ == before) first_open_ = &entry;
  link(entry, before, before ? before->place - room + 1 + room / kParts : kEnd - room + kGap);
}

void DedupOrder::put_shown(DedupEntry& entry) {
  DedupEntry* const open = first_open_;
  insert(entry, open);
  first_open_ = open;
  last_shown_ = entry.place;
}

void DedupOrder::link(DedupEntry& entry, DedupEntry* before, DedupPlace place) {
  entry.place = place;
  list_.insert_before(before, entry);
  if (entry.phrase) entry.phrase->add_placed(entry);
}

DedupPlace DedupOrder::room_before(const DedupEntry* entry) const {
  const DedupEntry* const previous = entry ? entry->previous : list_.last;
  return (entry ? entry->place : kEnd) - std::max(previous ? previous->place : 0, last_shown_);
}

void DedupOrder::renumber() {
  for (HostMarks& marks : hosts_) {
    if (!is_here(marks.said)) marks.said.place = 0;
    if (!is_here(marks.stand)) marks.stand.place = 0;
  }
  last_shown_ = 0;
  DedupPlace place = 0;
  for (DedupEntry* entry = list_.first; entry; entry = entry->next) {
    entry->place = place += kGap;
    if (entry->shown) last_shown_ = place;
  }
  for (HostMarks& marks : hosts_) {
    if (marks.said.place > 0) marks.said.place = marks.said.entry->place;
    if (marks.stand.place > 0) marks.stand.place = marks.stand.entry->place;
  }
}

bool DedupOrder::pull_before(std::size_t host, DedupEntry& entry) {
  const std::vector<DedupEntry*> moved = tied_between(entry, *hosts_[host].said.entry);
  if (moved.empty()) return false;
  if (room_before(&entry) <= moved.size()) renumber();
  const DedupPlace step = room_before(&entry) / (moved.size() + 1);
  if (step == 0) return false;
  for (DedupEntry* const each : moved) {
    if (each->phrase) each->phrase->remove_placed(*each);
    list_.remove(*each);
    if (first_open_ == &entry) first_open_ = each;
    link(*each, &entry, entry.place - room_before(&entry) + step);
  }
  for (HostMarks& marks : hosts_) {
    if (marks.said.entry && is_here(marks.said)) marks.said.place = marks.said.entry->place;
    if (marks.stand.entry && is_here(marks.stand)) marks.stand.place = marks.stand.entry->place;
  }
  return true;
}

/// The entries after `entry` up to `last` that must come before `last`, because a host has printed them in
/// this order. Empty if `entry` is one of them or too far away.
std::vector<DedupEntry*> DedupOrder::tied_between(const DedupEntry& entry, DedupEntry& last) const {
  std::vector<DedupEntry*> tied;
  DedupHosts hosts = last.hosts;
  std::size_t looked_at = 0;
  for (DedupEntry* each = &last; each != &entry; each = each->previous) {
    if (++looked_at > kLookedAt) return {};
    if (!intersect(each->hosts, hosts)) continue;
    hosts.resize(std::max(hosts.size(), each->hosts.size()));
    for (std::size_t i = 0; i < each->hosts.size(); ++i) hosts[i] |= each->hosts[i];
    tied.push_back(each);
  }
  if (intersect(entry.hosts, hosts)) return {};
  std::reverse(tied.begin(), tied.end());
  return tied;
}

void DedupOrder::has_met(std::size_t host, DedupEntry& entry) {
  HostMarks& marks = hosts_[host];
  if (entry.place < marks.stand.place) return;
  if (marks.running) {
    --(is_here(marks.stand) ? marks.stand.entry->standing : before_all_);
    ++entry.standing;
  }
  marks.stand = {entry.place, &entry};
  if (entry.place > marks.said.place) marks.said = marks.stand;
}

void DedupOrder::has_shared(std::size_t host, DedupEntry& entry) {
  lags(host) ? has_said(host, entry) : has_met(host, entry);
}

/// Whether a line that several other hosts share was shown after the host's position.
bool DedupOrder::lags(std::size_t host) const {
  const DedupEntry* entry = next_of(host);
  for (std::size_t looked_at = 0; entry && entry->shown && looked_at < kLookedAt; ++looked_at) {
    if (entry->several_hosts && !entry->has(host)) return true;
    entry = entry->next;
  }
  return false;
}

void DedupOrder::host_ended(std::size_t host) {
  HostMarks& marks = hosts_[host];
  marks.running = false;
  --(is_here(marks.stand) ? marks.stand.entry->standing : before_all_);
}

DedupEntry& DedupOrder::show_first() {
  DedupEntry& entry = *first_open_;
  first_open_ = entry.next;
  last_shown_ = entry.place;
  return entry;
}

DedupEntry& DedupOrder::take_first() {
  DedupEntry& entry = *list_.first;
  before_all_ += entry.standing;
  list_.remove(entry);
  if (entry.phrase) entry.phrase->forget_first_placed();
  return entry;
}

}  // namespace podrun::output
