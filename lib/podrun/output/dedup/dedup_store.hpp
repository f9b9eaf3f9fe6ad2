// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/output/line_splitter.hpp"
#include "podrun/output/sink.hpp"

namespace podrun::output {

struct DedupPhrase;

/// An entry's place in the order of showing; later entries have larger ones. 0: no place yet.
using DedupPlace = std::uint64_t;

/// The keys by which a line is compared with those of others, and how.
struct DedupKey {
  std::string_view key;
  /// A second key, in which the host's own names count: lines with an equal one are equal, too.
  std::optional<std::string_view> plain = std::nullopt;
  bool of_process = false;   ///< a process of the host that names itself has printed it
  bool keeps_texts = false;  ///< equal lines may differ in what a reader wants to know
};

/// A set of hosts, one bit each; those beyond its end are not in it.
using DedupHosts = std::vector<std::uint64_t>;
inline constexpr std::size_t kHostsInWord = 64;

/// The line of one host.
struct DedupText {
  std::size_t host = 0;
  std::string text;
};

/// A line that waits to be shown, or that late hosts may still print after it was shown.
struct DedupEntry {
  // Dedup reads the members that come first for every line of a host. Side by side they fill few lines of the
  // processor's cache.
  DedupEntry* next = nullptr;  ///< in the order, or among the floating lines of its host
  DedupEntry* previous = nullptr;
  DedupPhrase* phrase = nullptr;  ///< null: equal to no other line
  DedupPlace place = 0;
  DedupHosts hosts;  ///< that have printed it
  LineEnd end = LineEnd::newline;
  bool shown = false;
  bool several_hosts = false;  ///< more than one host has printed it
  bool of_process = false;     ///< see DedupKey
  bool repeats = false;        ///< its hosts may be late for lines that were shown; it is open
  bool text_is_key = false;
  bool is_plain = false;  ///< a host has printed it with this plain key
  bool keeps_texts = false;
  DedupPhrase* alias = nullptr;  ///< of its plain key, while only one host has printed it
  std::size_t running = 0;       ///< how many of its hosts still run
  std::size_t standing = 0;      ///< running hosts that stand here; see DedupOrder
  DedupEntry* older = nullptr;   ///< among the entries that have not been shown
  DedupEntry* newer = nullptr;
  std::chrono::steady_clock::time_point time;  ///< when it was first printed; later, when it was shown
  std::size_t first_host = 0;
  DedupEntry* next_alike = nullptr;  ///< the phrase's next floating entry, while this floats
  std::string text;                  ///< if it is not the phrase's key; until it is shown
  std::vector<DedupText> texts;      ///< of other hosts, if the key keeps them; until it is shown
  Sink::Clock::duration behind{};    ///< how late its hosts are, if it repeats

  bool has(std::size_t host) const {
    const std::size_t word = host / kHostsInWord;
    return word < hosts.size() && (hosts[word] >> (host % kHostsInWord) & 1U) != 0;
  }
  void add_all() { std::fill(hosts.begin(), hosts.end(), ~std::uint64_t{0}); }
};

/// A list linked through two members of its entries. Owns nothing.
template <DedupEntry* DedupEntry::*Previous, DedupEntry* DedupEntry::*Next>
struct DedupList {
  DedupEntry* first = nullptr;
  DedupEntry* last = nullptr;

  /// `place` null: insert at the end.
  void insert_before(DedupEntry* place, DedupEntry& entry) {
    DedupEntry* const previous = place ? place->*Previous : last;
    entry.*Previous = previous;
    entry.*Next = place;
    (previous ? previous->*Next : first) = &entry;
    (place ? place->*Previous : last) = &entry;
  }
  void remove(DedupEntry& entry) {
    (entry.*Previous ? (entry.*Previous)->*Next : first) = entry.*Next;
    (entry.*Next ? (entry.*Next)->*Previous : last) = entry.*Previous;
    entry.*Previous = entry.*Next = nullptr;
  }
};
using DedupSequence = DedupList<&DedupEntry::previous, &DedupEntry::next>;
using DedupAges = DedupList<&DedupEntry::older, &DedupEntry::newer>;

/// The common end and key of equal lines, and the entries of such lines.
struct DedupPhrase {
  DedupPhrase* next_in_bucket = nullptr;
  std::size_t hash = 0;
  LineEnd end = LineEnd::newline;
  std::string key;
  std::size_t entries = 0;
  DedupEntry* floating = nullptr;  ///< the first joinable floating entry; all of them belong to one host
  DedupEntry* last_floating = nullptr;
  std::vector<DedupEntry*> placed;  ///< by place; the first `gone` were forgotten
  std::size_t gone = 0;
  DedupEntry* alias_of = nullptr;  ///< an entry of another phrase that a line with this key may join

  bool is(LineEnd its_end, std::string_view its_key) const { return end == its_end && key == its_key; }

  struct Found {
    DedupEntry* entry = nullptr;  ///< null: none, or the search met too many that the host has printed
    std::size_t placed = 0;       ///< how many come after the place, including this one and the host's own
  };
  /// The first entry after the place that the host has not printed.
  Found first_after(DedupPlace place, std::size_t host) const;

  void add_placed(DedupEntry& entry);
  void remove_placed(const DedupEntry& entry);
  void forget_first_placed();
  void drop_gone();
  void add_floating(DedupEntry& entry);
  void remove_floating(const DedupEntry& entry);
};

/// The text of the first host that printed it; until it is shown.
inline std::string_view text_of(const DedupEntry& entry) {
  return entry.text_is_key ? entry.phrase->key : entry.text;
}

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

  /// Adds a host, with the next number.
  void add_host();

  /// The phrase by which the host's line is compared: one that exists, or a new one, to which the caller then
  /// adds an entry.
  DedupPhrase& phrase(std::size_t host, LineEnd end, const DedupKey& key);

  /// A new entry of a line that its host prints now. Without a `phrase`, `key` is ignored.
  DedupEntry& add(std::size_t host, const SplitLine& line, DedupPhrase* phrase, const DedupKey& key,
                  Sink::TimePoint now);
  /// The host has printed the entry too.
  void add_host_to(DedupEntry& entry, std::size_t host);
  void keep_text(DedupEntry& entry, std::size_t host, std::string_view text);
  void drop_text(DedupEntry& entry);
  /// Removes the entry, and its phrase with the last entry.
  void remove(DedupEntry& entry);

  std::size_t bytes() const { return bytes_; }

 private:
  static std::size_t words_of(std::size_t hosts) { return (hosts + kHostsInWord - 1) / kHostsInWord; }
  DedupPhrase* find(std::size_t hash, LineEnd end, std::string_view key);
  DedupPhrase& phrase(LineEnd end, std::string_view key);
  DedupPhrase& add_phrase(std::size_t hash, LineEnd end, std::string_view key);
  void add_alias(DedupEntry& entry, LineEnd end, std::string_view plain);
  void join_alias(DedupPhrase& plain);
  void drop_alias(DedupEntry& entry);
  void leave(DedupPhrase& phrase);
  void remove(DedupPhrase& phrase);
  void grow();

  const std::size_t first_hosts_;  ///< those that were not added later
  std::size_t hosts_;
  DedupPool<DedupEntry> entries_;
  DedupPool<DedupPhrase> phrases_;
  std::vector<DedupPhrase*> buckets_;  ///< by hash; their number is a power of two
  std::size_t phrase_count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace podrun::output
