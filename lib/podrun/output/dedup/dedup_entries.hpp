// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/output/line_splitter.hpp"

namespace podrun::output {

struct DedupPhrase;

/// An entry's place in the order of showing; later entries have larger ones. 0: no place yet.
using DedupPlace = std::uint64_t;

/// A set of hosts, one bit each.
using DedupHosts = std::vector<std::uint64_t>;
inline constexpr std::size_t kHostsInWord = 64;

/// A line that is to be shown, or was shown and may still be printed by late hosts.
struct DedupEntry {
  DedupEntry* previous = nullptr;  ///< in the order, or among the floating lines of its host
  DedupEntry* next = nullptr;
  DedupEntry* older = nullptr;  ///< among the entries that have not been shown
  DedupEntry* newer = nullptr;
  DedupEntry* next_alike = nullptr;            ///< the phrase's next floating entry, while this floats
  DedupPhrase* phrase = nullptr;               ///< null: equal to no other line
  std::string text;                            ///< if it is not the phrase's key; until it is shown
  DedupHosts hosts;                            ///< that have printed it
  std::chrono::steady_clock::time_point time;  ///< when it was first printed; later, when it was shown
  DedupPlace place = 0;
  std::size_t running = 0;   ///< how many of its hosts still run
  std::size_t standing = 0;  ///< running hosts that stand here; see DedupOrder
  std::size_t first_host = 0;
  LineEnd end = LineEnd::newline;
  bool several_hosts = false;  ///< more than one has printed it
  bool text_is_key = false;
  bool shown = false;

  bool has(std::size_t host) const { return (hosts[host / kHostsInWord] >> (host % kHostsInWord) & 1U) != 0; }
  void add(std::size_t host) {
    several_hosts = true;
    hosts[host / kHostsInWord] |= std::uint64_t{1} << (host % kHostsInWord);
  }
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
  void add_floating(DedupEntry& entry);
};

}  // namespace podrun::output
