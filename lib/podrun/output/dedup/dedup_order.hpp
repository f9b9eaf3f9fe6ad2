// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "podrun/output/dedup/dedup_store.hpp"

namespace podrun::output {

/// The entries with a place: first shown ones that hosts may still print, then open ones in the order of
/// showing. A host joins open entries only after the last one it *said*, so its lines keep their order. It
/// *stands* at an entry; after that there may be others, shown or not, that it has yet to print.
class DedupOrder {
 public:
  explicit DedupOrder(std::size_t hosts) : hosts_(hosts), before_all_(hosts) {}

  /// Adds a host, with the next number.
  void add_host();

  DedupEntry* first() const { return list_.first; }
  DedupEntry* first_open() const { return first_open_; }
  /// Whether there is a first entry and every running host stands at it or later.
  bool first_is_passed() const { return list_.first && before_all_ == 0; }
  /// Whether entries after the host's position may have been forgotten.
  bool stands_before_all(std::size_t host) const { return !is_here(hosts_[host].stand); }

  bool may_say(std::size_t host, const DedupEntry& entry) const;
  /// The entry right after the host's position. Null: none.
  DedupEntry* next_of(std::size_t host) const;
  /// The first open entry of the phrase that the host may print.
  DedupPhrase::Found find(std::size_t host, const DedupPhrase& phrase) const;
  /// The next one that was shown without the host, or the only one if the host has passed it. Null: none, or
  /// the host would leave out lines that it is likely to print.
  DedupEntry* find_shown(std::size_t host, const DedupPhrase& phrase) const;
  /// Whether the host is unlikely to print any entry between its position and this one.
  bool is_next(std::size_t host, const DedupEntry& entry) const;
  /// Whether others have printed a line between the host's position and this entry (null: the end) that the
  /// host has not.
  bool leaves_out(std::size_t host, const DedupEntry* end) const;
  /// The first open entry after the place whose hosts are not late for it. Null: none.
  DedupEntry* first_not_held(DedupPlace after) const;
  /// The last open entry that the host has printed. Null: none.
  DedupEntry* last_open_of(std::size_t host) const;
  /// The last entry that the host printed or that was shown: the host joins after it.
  DedupPlace joins_after(std::size_t host) const;

  /// Inserts an open entry between `after` and `before` (null: the end), by the time of its first print.
  void put(DedupEntry& entry, DedupPlace after, DedupEntry* before);
  /// Inserts an entry that is shown before all open ones.
  void put_shown(DedupEntry& entry);
  /// Puts the host's last entry before `entry`, with those between that must come before it. False if that
  /// would change the order of a host's lines, or move too many.
  bool pull_before(std::size_t host, DedupEntry& entry);

  /// The host has printed a placed entry, but does not stand there.
  void has_said(std::size_t host, DedupEntry& entry) { hosts_[host].said = {entry.place, &entry}; }
  /// The host has printed an entry that others had, or was late for it.
  void has_met(std::size_t host, DedupEntry& entry);
  /// The host and another one have printed a new line. The host then stands there, unless it lags.
  void has_shared(std::size_t host, DedupEntry& entry);
  void host_ended(std::size_t host);

  /// Marks the first open entry as shown.
  DedupEntry& show_first();
  /// Removes the first entry, which was shown.
  DedupEntry& take_first();

 private:
  struct Mark {
    DedupPlace place = 0;
    DedupEntry* entry = nullptr;  ///< valid if is_here()
  };
  struct HostMarks {
    Mark said;
    Mark stand;
    bool running = true;
  };

  /// How many hosts may print the entry.
  std::size_t asked(const DedupEntry& entry) const { return entry.of_process ? hosts_.size() : first_hosts_; }
  bool is_here(const Mark& mark) const { return list_.first && mark.place >= list_.first->place; }
  bool will_say(std::size_t host, const DedupEntry& entry) const;
  bool lags(std::size_t host) const;
  std::vector<DedupEntry*> tied_between(const DedupEntry& entry, DedupEntry& last) const;
  void insert(DedupEntry& entry, DedupEntry* before);
  void link(DedupEntry& entry, DedupEntry* before, DedupPlace place);
  DedupPlace room_before(const DedupEntry* entry) const;
  void renumber();

  DedupSequence list_;
  DedupEntry* first_open_ = nullptr;
  DedupPlace last_shown_ = 0;
  std::vector<HostMarks> hosts_;
  const std::size_t first_hosts_ = hosts_.size();  ///< those that were not added later
  std::size_t before_all_;  ///< running hosts that stand at no entry that is here, so before all of them
};

}  // namespace podrun::output
