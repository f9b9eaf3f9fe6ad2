// SPDX-License-Identifier: Apache-2.0
// Decides which lines of several hosts are equal, and when and in which order they are shown.
//
// A new line *floats*: it comes after its host's earlier lines, but has no place in the common order yet.
// When a second host prints it, it gets the last place in the order. Lines that floated before it on either
// host get places before it. The next host that prints it joins it there, and that host's floating lines get
// places before it too. So a line that only one host has appears between its own neighbours. It does not keep
// other hosts from joining the lines after it, as it would in an order by arrival.
//
// A process that names itself in its lines counts as a host here, but only lines of processes wait for it. A
// shown line is labelled with the hosts of the processes that printed it.
//
// An entry is shown, with all entries before it, when all running hosts have printed it or its window is
// over. It is kept for hosts that stand before it and may print it late. Such a line of theirs is held: a
// line after it that is new shows that the host is not late but tells something else.
#include "podrun/output/dedup/dedup.hpp"

#include <algorithm>
#include <utility>

namespace podrun::output {
namespace {

/// Lines that a host prints at once come within this time.
constexpr std::chrono::milliseconds kAtOnce{20};

/// Loads what the next lines of a host that has printed `entry` are likely compared with into the processor's
/// cache. Without this, a line mostly waits for memory.
void prefetch_after(const DedupEntry& entry) {
  const DedupEntry* const next = entry.next;
  const DedupEntry* const second = next ? next->next : nullptr;
  if (!second) return;
  if (next->phrase) __builtin_prefetch(next->phrase->key.data());
  __builtin_prefetch(second->phrase);
  __builtin_prefetch(second->hosts.data());
  if (!second->next) return;
  __builtin_prefetch(second->next);
  __builtin_prefetch(&second->next->running);
}

}  // namespace

Dedup::Dedup(std::size_t hosts, const DedupLimits& limits, Show show)
    : limits_(limits), show_(std::move(show)), hosts_(hosts), store_(hosts), order_(hosts) {
  for (std::size_t host = 0; host < hosts; ++host) hosts_[host].host = host;
}

std::size_t Dedup::add_process(std::size_t host) {
  hosts_.push_back(PrintingHost());
  hosts_.back().host = host;
  hosts_.back().next_process = std::exchange(hosts_[host].next_process, hosts_.size() - 1);
  store_.add_host();
  order_.add_host();
  ++running_;
  wait_for_processes_ = now_ + limits_.window;
  return hosts_.size() - 1;
}

void Dedup::line(TimePoint now, std::size_t host, const SplitLine& line, const DedupKey& key) {
  tick(now);
  PrintingHost& state = hosts_[host];
  const bool is_piece = line.end == LineEnd::piece;
  const bool is_rest = std::exchange(state.in_pieces, is_piece);
  DedupEntry* const next = order_.next_of(host);
  if (is_piece || is_rest) {
    is_new(host);
    add_floating(host, line, nullptr, {});
  } else if (next && !next->shown && !state.floating.first && next->phrase &&
             next->phrase->is(line.end, key.key) && order_.may_say(host, *next)) {
    meet(host, *next, line.text);
    prefetch_after(*next);
  } else {
    look_up(host, line, key);
  }
  show_and_forget();
  keep_within_bytes();
}

void Dedup::look_up(std::size_t host, const SplitLine& line, const DedupKey& key) {
  DedupPhrase& phrase = store_.phrase(host, line.end, key);
  DedupEntry* const shown = order_.find_shown(host, phrase);
  const bool is_behind = shown && hosts_[host].behind;
  if (DedupEntry* const same = is_behind ? find_held(host, phrase) : find(host, phrase)) {
    same->is_plain = same->is_plain || (key.plain && phrase.is(line.end, *key.plain));
    return same->place == 0 ? share(host, *same, line.text) : meet(host, *same, line.text);
  }
  const bool nobody_had_it = phrase.entries == 0;
  add_floating(host, line, &phrase, key);
  if (shown) {
    hold(host, *shown);
  } else if (nobody_had_it) {
    is_new(host);
  }
}

/// A line that occurs more than once (blank, a brace) only matches its next occurrence; otherwise one extra
/// line of this kind would shift all later ones. In doubt it floats until a line that occurs once shows where
/// it belongs. Null: the line is new, or floats, or was shown.
DedupEntry* Dedup::find(std::size_t host, const DedupPhrase& phrase) {
  PrintingHost& state = hosts_[host];
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

/// The same for a host that is behind: a line that other hosts hold, too.
DedupEntry* Dedup::find_held(std::size_t host, const DedupPhrase& phrase) {
  DedupEntry* const placed = order_.find(host, phrase).entry;
  DedupEntry* const found = placed ? placed : phrase.floating;
  return found && found->repeats && !found->has(host) ? found : nullptr;
}

/// The only such line, if the host has passed it without printing it. It matches if the order can be changed
/// so that the host has not passed it.
DedupEntry* Dedup::find_passed(std::size_t host, const DedupPhrase& phrase) {
  if (phrase.entries != 1 || phrase.placed.empty()) return nullptr;
  DedupEntry* const entry = phrase.placed.back();
  if (entry->has(host) || entry->shown) return nullptr;
  return order_.pull_before(host, *entry) ? entry : nullptr;
}

/// The host's last line, which floats, equals one that was shown for others. It is late if the host goes on
/// as they did. If a line that nobody has printed comes after it, or at once before it, then the host tells
/// something else, and the line is shown.
void Dedup::hold(std::size_t host, DedupEntry& shown) {
  PrintingHost& state = hosts_[host];
  DedupEntry& entry = *state.floating.last;
  if (!state.last_new || now_ - *state.last_new > kAtOnce) {
    entry.repeats = true;
    entry.behind = now_ - shown.time;
    state.behind = state.holds = true;
  }
  store_.add_host_to(shown, host);
  order_.has_met(host, shown);
}

/// The host prints a line that nobody has printed. If the others have printed more than it, then it tells
/// something else; if not, it has come first.
void Dedup::is_new(std::size_t host) {
  if (!order_.leaves_out(host, nullptr)) return;
  hosts_[host].last_new = now_;
  confirm(host);
}

/// The host prints a line that others have printed, and that was not shown.
void Dedup::joins(std::size_t host, DedupEntry& entry) {
  PrintingHost& state = hosts_[host];
  if (entry.repeats) {
    if (DedupEntry* const shown = order_.find_shown(host, *entry.phrase)) {
      entry.behind = std::max(entry.behind, now_ - shown->time);
      store_.add_host_to(*shown, host);
      order_.has_met(host, *shown);
      state.behind = state.holds = true;
      return;
    }
    confirm(entry);
  }
  if (!std::exchange(state.behind, false)) return;
  if (order_.leaves_out(host, &entry)) confirm(host);
}

/// The held lines of the host are not late: they will be shown.
void Dedup::confirm(std::size_t host) {
  PrintingHost& state = hosts_[host];
  if (!std::exchange(state.holds, false)) return;
  state.behind = false;
  for (DedupEntry* entry = state.floating.first; entry; entry = entry->next) entry->repeats = false;
  for (DedupEntry* entry = order_.first_open(); entry; entry = entry->next) {
    if (entry->has(host)) confirm(*entry);
  }
}

void Dedup::confirm(DedupEntry& entry) {
  if (!std::exchange(entry.repeats, false)) return;
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    if (entry.has(host)) hosts_[host].behind = false;
  }
  if (entry.place != 0) find_complete(entry);
}

void Dedup::add_floating(std::size_t host, const SplitLine& line, DedupPhrase* phrase, const DedupKey& key) {
  PrintingHost& state = hosts_[host];
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
void Dedup::meet(std::size_t host, DedupEntry& placed, std::string_view text) {
  joins(host, placed);
  place_floating(host, nullptr, &placed);
  add(host, placed, text);
  hosts_[host].placed_at = now_;
  // A host that may be late stands where the line was shown.
  placed.repeats ? order_.has_said(host, placed) : order_.has_met(host, placed);
}

void Dedup::add(std::size_t host, DedupEntry& entry, std::string_view text) {
  store_.add_host_to(entry, host);
  if (entry.shown) return;
  if (entry.keeps_texts && text != text_of(entry)) store_.keep_text(entry, hosts_[host].host, text);
  if (!hosts_[host].running) return;
  ++entry.running;
  find_complete(entry);
}

void Dedup::find_complete(DedupEntry& entry) {
  if (entry.repeats) return;  // what its hosts print next decides
  if (entry.of_process && now_ < wait_for_processes_) return;
  const std::size_t asked = entry.of_process ? running_ : running_hosts_;
  if (entry.running == asked && (!complete_ || complete_->place < entry.place)) complete_ = &entry;
}

/// The host prints a line that floats on another host.
void Dedup::share(std::size_t host, DedupEntry& floating, std::string_view text) {
  const std::size_t owner = floating.first_host;
  joins(host, floating);
  place_floating(owner, &floating, nullptr);
  place_floating(host, nullptr, nullptr);
  const DedupPlace after = std::max(order_.joins_after(owner), order_.joins_after(host));
  // A line that may be late was shown before those that are open.
  DedupEntry* const before = floating.repeats ? order_.first_not_held(after) : nullptr;
  order_.put(take_first_floating(hosts_[owner]), after, before);
  hosts_[owner].placed_at = floating.time;
  hosts_[host].placed_at = now_;
  add(host, floating, text);
  for (const std::size_t each : {owner, host})
    floating.repeats ? order_.has_said(each, floating) : order_.has_shared(each, floating);
}

/// Gives places to the host's floating lines up to `last` (null: all): each joins an equal entry before
/// `before` (null: the end) if there is one; the rest get places between these.
void Dedup::place_floating(std::size_t host, const DedupEntry* last, DedupEntry* before) {
  PrintingHost& state = hosts_[host];
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
  if (goes_on_at_once(host)) {
    const DedupEntry* const last = order_.last_open_of(host);
    before = last ? last->next : order_.first_open();
  }
  DedupEntry& entry = take_first_floating(hosts_[host]);
  order_.put(entry, order_.joins_after(host), before);
  order_.has_said(host, entry);
  hosts_[host].placed_at = entry.time;
}

/// Whether the host printed its first floating line together with the last one that has a place.
bool Dedup::goes_on_at_once(std::size_t host) const {
  const PrintingHost& state = hosts_[host];
  return state.floating.first && state.placed_at && state.floating.first->time - *state.placed_at <= kAtOnce;
}

void Dedup::merge_first_floating(std::size_t host, DedupEntry& same) {
  DedupEntry& entry = take_first_floating(hosts_[host]);
  if (entry.time < same.time) {
    open_.remove(same);
    open_.insert_before(&entry, same);
    same.time = entry.time;
  }
  if (!entry.repeats) confirm(same);
  same.behind = std::max(same.behind, entry.behind);
  for (const DedupText& text : entry.texts) store_.keep_text(same, text.host, text.text);
  add(host, same, text_of(entry));
  order_.has_said(host, same);
  hosts_[host].placed_at = entry.time;
  open_.remove(entry);
  store_.remove(entry);
}

DedupEntry& Dedup::take_first_floating(PrintingHost& host) {
  DedupEntry& entry = *host.floating.first;
  host.floating.remove(entry);
  if (entry.phrase && entry.phrase->floating == &entry) entry.phrase->floating = entry.next_alike;
  return entry;
}

}  // namespace podrun::output
