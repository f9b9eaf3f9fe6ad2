// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/dedup/dedup_entries.hpp"

#include <algorithm>

namespace podrun::output {
namespace {

/// The most entries already printed by the host that one search skips.
constexpr std::ptrdiff_t kPassed = 64;

bool is_after(DedupPlace place, const DedupEntry* entry) { return place < entry->place; }

/// The first entry after the place among those that were not forgotten.
template <typename Phrase>
auto find_after(Phrase& phrase, DedupPlace place) {
  const auto begin = phrase.placed.begin() + static_cast<std::ptrdiff_t>(phrase.gone);
  return std::upper_bound(begin, phrase.placed.end(), place, is_after);
}

}  // namespace

DedupPhrase::Found DedupPhrase::first_after(DedupPlace place, std::size_t host) const {
  const auto first = find_after(*this, place);
  const auto after = placed.end() - first;
  const auto last = first + std::min(kPassed, after);
  const auto found = std::find_if(first, last, [host](const DedupEntry* entry) { return !entry->has(host); });
  return {found == last ? nullptr : *found, static_cast<std::size_t>(after)};
}

void DedupPhrase::add_placed(DedupEntry& entry) { placed.insert(find_after(*this, entry.place), &entry); }

void DedupPhrase::remove_placed(const DedupEntry& entry) { placed.erase(find_after(*this, entry.place - 1)); }

void DedupPhrase::forget_first_placed() {
  ++gone;
  if (2 * gone < placed.size()) return;
  placed.erase(placed.begin(), placed.begin() + static_cast<std::ptrdiff_t>(gone));
  gone = 0;
}

void DedupPhrase::add_floating(DedupEntry& entry) {
  (floating ? last_floating->next_alike : floating) = &entry;
  last_floating = &entry;
}

}  // namespace podrun::output
