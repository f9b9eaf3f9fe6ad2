// SPDX-License-Identifier: Apache-2.0
// When lines are shown, and in which order: all before the line that is due, with the hosts that have printed
// them.
#include <algorithm>
#include <bit>
#include <utility>

#include "podrun/output/dedup/dedup.hpp"

namespace podrun::output {

void Dedup::host_ended(std::size_t host) {
  if (!hosts_[host].running) return;
  std::size_t each = host;
  do {
    end(each);
    each = hosts_[each].next_process;
  } while (each != 0);
  for (alone_ = 0; running_ == 1 && !hosts_[alone_].running;) ++alone_;
  show_and_forget();
}

void Dedup::end(std::size_t host) {
  while (goes_on_at_once(host)) place_first_floating(host, nullptr);
  hosts_[host].running = false;
  --running_;
  if (host < first_hosts_) --running_hosts_;
  order_.host_ended(host);
  for (DedupEntry* entry = hosts_[host].floating.first; entry; entry = entry->next) --entry->running;
  for (DedupEntry* entry = order_.first_open(); entry; entry = entry->next) {
    if (entry->has(host)) --entry->running;
    find_complete(*entry);
  }
}

/// Shows lines that all running hosts have printed, and forgets those that no host can print any more.
void Dedup::show_and_forget() {
  if (complete_) show_through(std::exchange(complete_, nullptr)->place);
  if (running_ == 1 && !hosts_[alone_].behind) show_floating(hosts_[alone_], nullptr);
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
void Dedup::show_floating(PrintingHost& host, const DedupEntry* last) {
  if (!host.floating.first) return;
  show_through(order_.joins_after(host.floating.first->first_host));
  const bool others_run = running_ > (host.running ? 1U : 0U);
  for (bool done = false; host.floating.first && !done;) {
    DedupEntry& entry = take_first_floating(host);
    done = &entry == last;
    const bool is_late = entry.repeats;
    show(entry);
    if (entry.phrase && others_run && !is_late) {
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
      shown_hosts_.push_back(
          hosts_[word * kHostsInWord + static_cast<std::size_t>(std::countr_zero(rest))].host);
    }
  }
  if (hosts_.size() > first_hosts_) {
    std::sort(shown_hosts_.begin(), shown_hosts_.end());
    shown_hosts_.erase(std::unique(shown_hosts_.begin(), shown_hosts_.end()), shown_hosts_.end());
  }
  show_({.hosts = shown_hosts_,
         .host = hosts_[entry.first_host].host,
         .text = text_of(entry),
         .end = entry.end,
         .texts = entry.texts,
         .is_plain = entry.is_plain,
         .is_shared = entry.several_hosts,
         .late = entry.repeats ? std::optional(entry.behind) : std::nullopt});
  open_.remove(entry);
  store_.drop_text(entry);
  if (std::exchange(entry.repeats, false)) entry.add_all();  // it stands for the line that was shown
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
