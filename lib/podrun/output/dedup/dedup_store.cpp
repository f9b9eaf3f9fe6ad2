// SPDX-License-Identifier: Apache-2.0
// Memory of the dedup core: entries keep their address and are reused. Lists of equal lines.
#include "podrun/output/dedup/dedup_store.hpp"

#include <algorithm>
#include <functional>
#include <utility>

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

constexpr std::size_t kFirstBuckets = 64;

/// The largest buffer that a returned phrase keeps for its next use.
constexpr std::size_t kKept = 128;

std::size_t hash_of(LineEnd end, std::string_view key) {
  return std::hash<std::string_view>{}(key) + static_cast<std::size_t>(end);
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

DedupStore::DedupStore(std::size_t hosts)
    : words_((hosts + kHostsInWord - 1) / kHostsInWord), buckets_(kFirstBuckets) {}

DedupPhrase& DedupStore::phrase(LineEnd end, std::string_view key) {
  const std::size_t hash = hash_of(end, key);
  DedupPhrase* phrase = buckets_[hash & (buckets_.size() - 1)];
  while (phrase && !(phrase->hash == hash && phrase->is(end, key))) phrase = phrase->next_in_bucket;
  return phrase ? *phrase : add_phrase(hash, end, key);
}

DedupPhrase& DedupStore::add_phrase(std::size_t hash, LineEnd end, std::string_view key) {
  if (phrase_count_ == buckets_.size()) grow();
  ++phrase_count_;
  bytes_ += sizeof(DedupPhrase) + key.size();
  DedupPhrase& phrase = phrases_.take();
  phrase.hash = hash;
  phrase.end = end;
  phrase.key = key;
  phrase.next_in_bucket = std::exchange(buckets_[hash & (buckets_.size() - 1)], &phrase);
  return phrase;
}

void DedupStore::remove(DedupPhrase& phrase) {
  DedupPhrase** link = &buckets_[phrase.hash & (buckets_.size() - 1)];
  while (*link != &phrase) link = &(*link)->next_in_bucket;
  *link = phrase.next_in_bucket;
  --phrase_count_;
  bytes_ -= sizeof(DedupPhrase) + phrase.key.size();
  if (phrase.key.capacity() > kKept) std::string().swap(phrase.key);
  if (phrase.placed.capacity() * sizeof(DedupEntry*) > kKept) std::vector<DedupEntry*>().swap(phrase.placed);
  phrases_.give_back(phrase);
}

void DedupStore::grow() {
  std::vector<DedupPhrase*> old(2 * buckets_.size());
  old.swap(buckets_);
  for (DedupPhrase* phrase : old) {
    while (phrase) {
      DedupPhrase*& bucket = buckets_[phrase->hash & (buckets_.size() - 1)];
      DedupPhrase* const next = std::exchange(phrase->next_in_bucket, bucket);
      bucket = std::exchange(phrase, next);
    }
  }
}

DedupEntry& DedupStore::add(std::size_t host, const SplitLine& line, DedupPhrase* phrase,
                            std::string_view key, Sink::TimePoint now) {
  DedupEntry& entry = entries_.take();
  entry.next_alike = nullptr;
  entry.phrase = phrase;
  if (phrase) ++phrase->entries;
  entry.text_is_key = phrase && line.text == key;
  if (!entry.text_is_key) entry.text = line.text;
  entry.hosts.assign(words_, 0);
  entry.add(host);
  entry.several_hosts = false;
  entry.time = now;
  entry.place = 0;
  entry.running = 1;
  entry.standing = 0;
  entry.first_host = host;
  entry.end = line.end;
  entry.shown = false;
  bytes_ += cost_of(entry);
  return entry;
}

void DedupStore::drop_text(DedupEntry& entry) {
  bytes_ -= entry.text.size();
  std::string().swap(entry.text);
}

void DedupStore::remove(DedupEntry& entry) {
  bytes_ -= cost_of(entry);
  if (entry.phrase && --entry.phrase->entries == 0) remove(*entry.phrase);
  if (!entry.text.empty()) std::string().swap(entry.text);
  entries_.give_back(entry);
}

std::size_t DedupStore::cost_of(const DedupEntry& entry) const {
  return sizeof(DedupEntry) + words_ * sizeof(std::uint64_t) + entry.text.size();
}

}  // namespace podrun::output
