// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <string_view>
#include <vector>

#include "podrun/output/dedup/dedup_entries.hpp"
#include "podrun/output/sink.hpp"

namespace podrun::output {

/// Makes objects that keep their address, and reuses those given back.
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

/// Owns entries and phrases, and counts their memory.
class DedupStore {
 public:
  explicit DedupStore(std::size_t hosts);

  /// The existing phrase, or a new one; the caller then adds an entry to it.
  DedupPhrase& phrase(LineEnd end, std::string_view key);

  /// A new entry of a line that its host prints now. Without a `phrase`, `key` is ignored.
  DedupEntry& add(std::size_t host, const SplitLine& line, DedupPhrase* phrase, std::string_view key,
                  Sink::TimePoint now);
  void drop_text(DedupEntry& entry);
  /// Removes the entry, and its phrase with the last entry.
  void remove(DedupEntry& entry);

  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t cost_of(const DedupEntry& entry) const;
  DedupPhrase& add_phrase(std::size_t hash, LineEnd end, std::string_view key);
  void remove(DedupPhrase& phrase);
  void grow();

  const std::size_t words_;  ///< in DedupEntry::hosts
  DedupPool<DedupEntry> entries_;
  DedupPool<DedupPhrase> phrases_;
  std::vector<DedupPhrase*> buckets_;  ///< by hash; their number is a power of two
  std::size_t phrase_count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace podrun::output
