// SPDX-License-Identifier: Apache-2.0
// Memory of the dedup core: entries keep their address and are reused.
#include "podrun/output/dedup/dedup_store.hpp"

#include <functional>
#include <utility>

namespace podrun::output {
namespace {

constexpr std::size_t kFirstBuckets = 64;

/// The largest buffer that a phrase given back keeps for the next one.
constexpr std::size_t kKept = 128;

std::size_t hash_of(LineEnd end, std::string_view key) {
  return std::hash<std::string_view>{}(key) + static_cast<std::size_t>(end);
}

}  // namespace

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
