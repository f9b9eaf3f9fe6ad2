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

void DedupPhrase::remove_placed(const DedupEntry& entry) {
  placed.erase(find_after(*this, entry.place - 1));
  drop_gone();
}

void DedupPhrase::forget_first_placed() {
  ++gone;
  drop_gone();
}

void DedupPhrase::drop_gone() {
  if (2 * gone < placed.size()) return;
  placed.erase(placed.begin(), placed.begin() + static_cast<std::ptrdiff_t>(gone));
  gone = 0;
}

void DedupPhrase::add_floating(DedupEntry& entry) {
  (floating ? last_floating->next_alike : floating) = &entry;
  last_floating = &entry;
}

void DedupPhrase::remove_floating(const DedupEntry& entry) {
  DedupEntry* before = nullptr;
  DedupEntry* each = floating;
  for (; each && each != &entry; each = each->next_alike) before = each;
  if (!each) return;
  (before ? before->next_alike : floating) = each->next_alike;
  if (last_floating == each) last_floating = before;
  each->next_alike = nullptr;
}

DedupStore::DedupStore(std::size_t hosts) : first_hosts_(hosts), hosts_(hosts), buckets_(kFirstBuckets) {}

void DedupStore::add_host() { ++hosts_; }

/// A plain key comes first, since equal bytes are a better reason than equal forms.
DedupPhrase& DedupStore::phrase(std::size_t host, LineEnd end, const DedupKey& key) {
  const std::string_view plain = key.plain.value_or(key.key);
  const std::size_t hash = hash_of(end, plain);
  DedupPhrase* const found = find(hash, end, plain);
  if (found && found->entries == 0 && !found->alias_of->has(host)) join_alias(*found);
  if (found && (found->entries != 0 || !key.plain)) return *found;
  return key.plain ? phrase(end, key.key) : add_phrase(hash, end, plain);
}

DedupPhrase& DedupStore::phrase(LineEnd end, std::string_view key) {
  const std::size_t hash = hash_of(end, key);
  DedupPhrase* const found = find(hash, end, key);
  return found ? *found : add_phrase(hash, end, key);
}

DedupPhrase* DedupStore::find(std::size_t hash, LineEnd end, std::string_view key) {
  DedupPhrase* phrase = buckets_[hash & (buckets_.size() - 1)];
  while (phrase && !(phrase->hash == hash && phrase->is(end, key))) phrase = phrase->next_in_bucket;
  return phrase;
}

/// Another host's line with the plain key of the entry will join it.
void DedupStore::add_alias(DedupEntry& entry, LineEnd end, std::string_view plain) {
  DedupPhrase& phrase = this->phrase(end, plain);
  if (phrase.entries != 0 || phrase.alias_of) return;
  phrase.alias_of = &entry;
  entry.alias = &phrase;
}

/// The entry that may be joined by its plain key is from now on compared by that.
void DedupStore::join_alias(DedupPhrase& plain) {
  DedupEntry& entry = *std::exchange(plain.alias_of, nullptr);
  DedupPhrase& old = *std::exchange(entry.phrase, &plain);
  entry.alias = nullptr;
  entry.is_plain = true;
  ++plain.entries;
  if (entry.place != 0) {
    old.remove_placed(entry);
    plain.add_placed(entry);
  } else {
    old.remove_floating(entry);
    plain.add_floating(entry);
  }
  --old.entries;
  leave(old);
}

void DedupStore::drop_alias(DedupEntry& entry) {
  DedupPhrase* const phrase = std::exchange(entry.alias, nullptr);
  if (!phrase) return;
  phrase->alias_of = nullptr;
  leave(*phrase);
}

void DedupStore::leave(DedupPhrase& phrase) {
  if (phrase.entries == 0 && !phrase.alias_of) remove(phrase);
}

DedupPhrase& DedupStore::add_phrase(std::size_t hash, LineEnd end, std::string_view key) {
  if (phrase_count_ == buckets_.size()) grow();
  ++phrase_count_;
  bytes_ += sizeof(DedupPhrase) + key.size();
  DedupPhrase& phrase = phrases_.take();
  phrase.hash = hash;
  phrase.end = end;
  phrase.key = key;
  phrase.alias_of = nullptr;
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
  phrase.placed.clear();
  phrase.gone = 0;
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

DedupEntry& DedupStore::add(std::size_t host, const SplitLine& line, DedupPhrase* phrase, const DedupKey& key,
                            Sink::TimePoint now) {
  DedupEntry& entry = entries_.take();
  entry.next_alike = nullptr;
  entry.phrase = phrase;
  if (phrase) ++phrase->entries;
  entry.text_is_key = phrase && line.text == phrase->key;
  if (!entry.text_is_key) entry.text = line.text;
  entry.hosts.assign(words_of(key.of_process ? hosts_ : first_hosts_), 0);
  bytes_ += sizeof(DedupEntry) + entry.hosts.size() * sizeof(std::uint64_t) + entry.text.size();
  add_host_to(entry, host);
  entry.several_hosts = false;
  entry.is_plain = phrase && key.plain && phrase->is(line.end, *key.plain);
  entry.of_process = key.of_process;
  entry.keeps_texts = key.keeps_texts;
  entry.time = now;
  entry.place = 0;
  entry.running = 1;
  entry.standing = 0;
  entry.first_host = host;
  entry.end = line.end;
  entry.shown = false;
  entry.repeats = false;
  entry.behind = {};
  if (phrase && key.plain && !entry.is_plain) add_alias(entry, line.end, *key.plain);
  return entry;
}

void DedupStore::add_host_to(DedupEntry& entry, std::size_t host) {
  const std::size_t word = host / kHostsInWord;
  if (word >= entry.hosts.size()) {
    const std::size_t words = words_of(hosts_);
    bytes_ += (words - entry.hosts.size()) * sizeof(std::uint64_t);
    entry.hosts.resize(words);
  }
  entry.hosts[word] |= std::uint64_t{1} << (host % kHostsInWord);
  entry.several_hosts = true;
  drop_alias(entry);
}

void DedupStore::keep_text(DedupEntry& entry, std::size_t host, std::string_view text) {
  entry.texts.push_back({host, std::string(text)});
  bytes_ += sizeof(DedupText) + text.size();
}

void DedupStore::drop_text(DedupEntry& entry) {
  bytes_ -= entry.text.size();
  std::string().swap(entry.text);
  for (const DedupText& other : entry.texts) bytes_ -= sizeof(DedupText) + other.text.size();
  std::vector<DedupText>().swap(entry.texts);
}

void DedupStore::remove(DedupEntry& entry) {
  drop_alias(entry);
  drop_text(entry);
  bytes_ -= sizeof(DedupEntry) + entry.hosts.size() * sizeof(std::uint64_t);
  if (entry.phrase) {
    --entry.phrase->entries;
    leave(*entry.phrase);
  }
  entries_.give_back(entry);
}

}  // namespace podrun::output
