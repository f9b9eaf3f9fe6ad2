// SPDX-License-Identifier: Apache-2.0
// Decides which lines of several hosts are equal, and when and in which order they are shown.
//
// A new line *floats*: it comes after its host's earlier lines, but has no place in the common order yet.
// When a second host prints it, it gets the last place in the order. Lines that floated before it on either
// host get places before it. The next host that prints it joins it there, and that host's floating lines get
// places before it too. So a line that only one host has appears between its own neighbours. It does not keep
// other hosts from joining the lines after it, as it would in an order by arrival.
//
// An entry is shown, with all entries before it, when all running hosts have printed it or its window is
// over. It is kept for hosts that stand before it and may print it late.
#include "podrun/output/dedup/dedup.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace podrun::output {

Dedup::Dedup(std::size_t hosts, const DedupLimits& limits, Show show)
    : limits_(limits),
      show_(std::move(show)),
      hosts_(hosts),
      running_(hosts),
      store_(hosts),
      order_(hosts),
      late_(hosts) {}

void Dedup::line(TimePoint now, std::size_t host, const SplitLine& line, std::string_view key) {
  tick(now);
  HostState& state = hosts_[host];
  const bool is_piece = line.end == LineEnd::piece;
  const bool is_rest = std::exchange(state.in_pieces, is_piece);
  DedupEntry* const next = order_.next_of(host);
  if (is_piece || is_rest) {
    add_floating(host, line, nullptr, {});
  } else if (next && !state.floating.first && next->phrase && next->phrase->is(line.end, key) &&
             order_.may_say(host, *next)) {
    meet(host, *next);
  } else {
    look_up(host, line, key);
  }
  show_and_forget();
  keep_within_bytes();
}

void Dedup::look_up(std::size_t host, const SplitLine& line, std::string_view key) {
  DedupPhrase& phrase = store_.phrase(line.end, key);
  DedupEntry* const same = find(host, phrase);
  if (!same) return add_floating(host, line, &phrase, key);
  if (same->place == 0) return share(host, *same);
  meet(host, *same);
}

/// A line that occurs more than once (blank, a brace) only matches its next occurrence; otherwise one extra
/// line of this kind would shift all later ones. In doubt it floats until a line that occurs once shows where
/// it belongs. Null: the line is new, or floats.
DedupEntry* Dedup::find(std::size_t host, const DedupPhrase& phrase) {
  HostState& state = hosts_[host];
  const auto [placed, placed_after] = order_.find(host, phrase);
  DedupEntry* const floating = phrase.floating;
  DedupEntry* const found = placed ? placed : floating;
  if (!found) return find_passed(host, phrase);
  if (found->has(host)) return nullptr;
  const std::size_t floats = !floating ? 0 : floating->next_alike ? 2 : 1;
  const std::size_t passed = phrase.placed.size() - phrase.gone - placed_after;
  if ((state.in_doubt ? phrase.entries - passed : placed_after + floats) == 1) return found;
  const bool own_floats = floating && floating->has(host);
  const bool is_next =
      placed ? order_.is_next(host, *placed) : found == hosts_[found->first_host].floating.first;
  if (is_next && !own_floats && !state.in_doubt) return found;
  state.in_doubt = true;
  return nullptr;
}

/// The only such line, if the host has passed it without printing it. It matches if the order can be changed
/// so that the host has not passed it, or if it was shown, so that its place no longer matters.
DedupEntry* Dedup::find_passed(std::size_t host, const DedupPhrase& phrase) {
  if (phrase.entries != 1 || phrase.placed.empty()) return nullptr;
  DedupEntry* const entry = phrase.placed.back();
  if (entry->has(host)) return nullptr;
  return entry->shown || order_.pull_before(host, *entry) ? entry : nullptr;
}

void Dedup::add_floating(std::size_t host, const SplitLine& line, DedupPhrase* phrase, std::string_view key) {
  HostState& state = hosts_[host];
  DedupEntry& entry = store_.add(host, line, phrase, key, now_);
  state.floating.insert_before(nullptr, entry);
  open_.insert_before(nullptr, entry);
  if (!phrase) return;
  const bool of_no_other = !phrase->floating || phrase->floating->has(host);
  if (phrase->entries == 1 || (of_no_other && !state.in_doubt)) phrase->add_floating(entry);
  if (forgotten_ && now_ - *forgotten_ <= limits_.late && order_.stands_before_all(host)) {
    overflowed_ = true;
  }
}

/// The host prints a line that has a place.
void Dedup::meet(std::size_t host, DedupEntry& placed) {
  if (placed.shown) {
    LateLines& late = late_[host];
    ++late.lines;
    late.lag = std::max(late.lag, now_ - placed.time);
    hosts_[host].in_doubt = false;
  } else {
    place_floating(host, nullptr, &placed);
  }
  add(host, placed);
  order_.has_met(host, placed);
}

void Dedup::add(std::size_t host, DedupEntry& entry) {
  entry.add(host);
  if (!hosts_[host].running || entry.shown) return;
  ++entry.running;
  find_complete(entry);
}

void Dedup::find_complete(DedupEntry& entry) {
  if (entry.running == running_ && (!complete_ || complete_->place < entry.place)) complete_ = &entry;
}

/// The host prints a line that floats on another host.
void Dedup::share(std::size_t host, DedupEntry& floating) {
  const std::size_t owner = floating.first_host;
  place_floating(owner, &floating, nullptr);
  place_floating(host, nullptr, nullptr);
  const DedupPlace after = std::max(order_.joins_after(owner), order_.joins_after(host));
  order_.put(take_first_floating(hosts_[owner]), after, nullptr);
  add(host, floating);
  order_.has_shared(owner, floating);
  order_.has_shared(host, floating);
}

/// Gives places to the host's floating lines up to `last` (null: all): each joins an equal entry before
/// `before` (null: the end) if there is one; the rest get places between these.
void Dedup::place_floating(std::size_t host, const DedupEntry* last, DedupEntry* before) {
  HostState& state = hosts_[host];
  for (DedupEntry* entry = state.floating.first; entry != last;) {
    DedupEntry* const next = entry->next;
    const DedupPlace after = order_.joins_after(host);
    DedupEntry* const same = entry->phrase ? entry->phrase->first_after(after, host).entry : nullptr;
    if (same && (!before || same->place < before->place)) {
      while (state.floating.first != entry) place_first_floating(host, same);
      merge_first_floating(host, *same);
    }
    entry = next;
  }
  while (state.floating.first != last) place_first_floating(host, before);
  state.in_doubt = state.in_doubt && last;
}

void Dedup::place_first_floating(std::size_t host, DedupEntry* before) {
  DedupEntry& entry = take_first_floating(hosts_[host]);
  order_.put(entry, order_.joins_after(host), before);
  order_.has_said(host, entry);
}

void Dedup::merge_first_floating(std::size_t host, DedupEntry& same) {
  DedupEntry& entry = take_first_floating(hosts_[host]);
  if (entry.time < same.time) {
    open_.remove(same);
    open_.insert_before(&entry, same);
    same.time = entry.time;
  }
  add(host, same);
  order_.has_said(host, same);
  open_.remove(entry);
  store_.remove(entry);
}

DedupEntry& Dedup::take_first_floating(HostState& host) {
  DedupEntry& entry = *host.floating.first;
  host.floating.remove(entry);
  if (entry.phrase && entry.phrase->floating == &entry) entry.phrase->floating = entry.next_alike;
  return entry;
}

void Dedup::host_ended(std::size_t host) {
  if (!std::exchange(hosts_[host].running, false)) return;
  --running_;
  order_.host_ended(host);
  for (DedupEntry* entry = hosts_[host].floating.first; entry; entry = entry->next) --entry->running;
  for (DedupEntry* entry = order_.first_open(); entry; entry = entry->next) {
    if (entry->has(host)) --entry->running;
    find_complete(*entry);
  }
  for (alone_ = 0; running_ == 1 && !hosts_[alone_].running;) ++alone_;
  show_and_forget();
}

/// Shows lines that all running hosts have printed, and forgets those that no host can print any more.
void Dedup::show_and_forget() {
  if (complete_) show_through(std::exchange(complete_, nullptr)->place);
  if (running_ == 1) show_floating(hosts_[alone_], nullptr);
  if (running_ == 0) finish();
  while (order_.first_is_passed() && order_.first()->shown) store_.remove(order_.take_first());
}

void Dedup::tick(TimePoint now) {
  now_ = std::max(now_, now);
  while (next_tick() <= now_) show_oldest();
  for (const DedupEntry* first = order_.first(); first && first->shown; first = order_.first()) {
    if (now_ - first->time <= limits_.late) break;
    store_.remove(order_.take_first());
  }
}

Dedup::TimePoint Dedup::next_tick() const {
  return open_.first ? open_.first->time + limits_.window : TimePoint::max();
}

void Dedup::show_all_of(std::size_t host) {
  show_through(order_.joins_after(host));
  show_floating(hosts_[host], nullptr);
}

void Dedup::finish() {
  while (open_.first) show_oldest();
}

/// Shows the oldest entry and everything before it.
void Dedup::show_oldest() {
  const DedupEntry& oldest = *open_.first;
  if (oldest.place > 0) return show_through(oldest.place);
  show_floating(hosts_[oldest.first_host], &oldest);
}

void Dedup::show_through(DedupPlace place) {
  while (order_.first_open() && order_.first_open()->place <= place) show(order_.show_first());
}

/// Shows the host's floating lines up to and including `last` (null: all). They get places for hosts that may
/// print them late.
void Dedup::show_floating(HostState& host, const DedupEntry* last) {
  if (!host.floating.first) return;
  show_through(order_.joins_after(host.floating.first->first_host));
  const bool others_run = running_ > (host.running ? 1U : 0U);
  for (bool done = false; host.floating.first && !done;) {
    DedupEntry& entry = take_first_floating(host);
    done = &entry == last;
    show(entry);
    if (entry.phrase && others_run) {
      order_.put_shown(entry);
    } else {
      store_.remove(entry);
    }
  }
}

void Dedup::show(DedupEntry& entry) {
  shown_hosts_.clear();
  for (std::size_t word = 0; word < entry.hosts.size(); ++word) {
    for (std::uint64_t rest = entry.hosts[word]; rest != 0; rest &= rest - 1) {
      shown_hosts_.push_back(word * kHostsInWord + static_cast<std::size_t>(std::countr_zero(rest)));
    }
  }
  show_({shown_hosts_, entry.text_is_key ? entry.phrase->key : entry.text, entry.end});
  open_.remove(entry);
  store_.drop_text(entry);
  entry.shown = true;
  entry.time = now_;
}

void Dedup::keep_within_bytes() {
  while (bytes() > limits_.bytes) {
    if (order_.first() && order_.first()->shown) {
      forgotten_ = now_;
      store_.remove(order_.take_first());
    } else {
      show_oldest();
    }
  }
}

}  // namespace podrun::output
