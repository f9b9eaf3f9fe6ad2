// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <string_view>
#include <vector>

#include "podrun/output/dedup_entries.hpp"
#include "podrun/output/sink.hpp"

namespace podrun {

/// Makes things that keep their address, and makes them again of those given back.
template <typename T>
class DedupPool {
 public:
  T& take() {
    if (free_.empty()) return all_.emplace_back();
    T& taken = *free_.back();
    free_.pop_back();
    return taken;
  }
  void give_back(T& thing) { free_.push_back(&thing); }

 private:
  std::deque<T> all_;
  std::vector<T*> free_;
};

/// Holds entries and phrases, and knows what they take.
class DedupStore {
 public:
  explicit DedupStore(std::size_t hosts);

  /// The one there is, or a new one, which is to be given an entry.
  DedupPhrase& phrase(StreamId stream, LineEnd end, std::string_view key);

  /// One that its host says now. `phrase` may be null; then `key` is of no meaning.
  DedupEntry& add(const Line& line, DedupPhrase* phrase, std::string_view key, Sink::TimePoint now);
  void drop_text(DedupEntry& entry);
  /// With its phrase, if that has no other.
  void remove(DedupEntry& entry);

  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t cost_of(const DedupEntry& entry) const;
  DedupPhrase& add_phrase(std::size_t hash, StreamId stream, LineEnd end, std::string_view key);
  void remove(DedupPhrase& phrase);
  void grow();

  const std::size_t words_;  ///< of DedupEntry::hosts
  DedupPool<DedupEntry> entries_;
  DedupPool<DedupPhrase> phrases_;
  std::vector<DedupPhrase*> buckets_;  ///< by hash, a power of two of them
  std::size_t phrase_count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace podrun
