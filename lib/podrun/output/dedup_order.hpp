// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "podrun/output/dedup_entries.hpp"

namespace podrun {

/// The entries that have a place: those shown that hosts may still say, then the open ones, to be shown in
/// this order. A host joins an open one only behind the last that it has *said*, so that its lines keep their
/// order, and it *stands* at one behind which there may be others, shown or not, that it has yet to say.
class DedupOrder {
 public:
  explicit DedupOrder(std::size_t hosts) : hosts_(hosts), behind_(hosts) {}

  DedupEntry* first() const { return list_.first; }
  DedupEntry* first_open() const { return first_open_; }
  /// There is a first one, and no running host stands before it.
  bool first_is_passed() const { return list_.first && behind_ == 0; }
  /// Some that are behind where the host stands may have been forgotten.
  bool stands_before_all(std::size_t host) const { return !is_here(hosts_[host].stand); }

  bool may_say(std::size_t host, const DedupEntry& entry) const;
  /// Right behind where the host stands. Null: nothing.
  DedupEntry* next_of(std::size_t host) const;
  /// The first such line that the host may say.
  DedupPhrase::Found find(std::size_t host, const DedupPhrase& phrase) const;
  /// Between this and where the host stands is nothing that it is likely to say.
  bool is_next(std::size_t host, const DedupEntry& entry) const;
  /// What the host said last, or what was shown last: it joins behind that.
  DedupPlace joins_behind(std::size_t host) const;

  /// An open one between these, as it was first said earlier or later than what is there. `before` null: the
  /// end.
  void put(DedupEntry& entry, DedupPlace behind, DedupEntry* before);
  /// One that is shown before any that is open.
  void put_shown(DedupEntry& entry);
  /// Makes the host's last place one before the entry, by moving those between that have to be before it.
  /// False: that would change the order of a host's lines, or too many would have to be moved.
  bool pull_before(std::size_t host, DedupEntry& entry);

  /// It has a place, but the host does not stand there.
  void has_said(std::size_t host, DedupEntry& entry) { hosts_[host].said = {entry.place, &entry}; }
  /// The host has said what others had, or was late for it.
  void has_met(std::size_t host, DedupEntry& entry);
  /// The host and another one have said what is new. It stands there, unless it is behind the others.
  void has_shared(std::size_t host, DedupEntry& entry);
  void host_ended(std::size_t host);

  /// The first open one counts as shown from now on.
  DedupEntry& show_first();
  /// The first, which was shown, has no place any more.
  DedupEntry& take_first();

 private:
  struct Mark {
    DedupPlace place = 0;
    DedupEntry* entry = nullptr;  ///< valid where it is_here()
  };
  struct HostMarks {
    Mark said;
    Mark stand;
    bool running = true;
  };

  bool is_here(const Mark& mark) const { return list_.first && mark.place >= list_.first->place; }
  bool will_say(std::size_t host, const DedupEntry& entry) const;
  bool lags(std::size_t host) const;
  std::vector<DedupEntry*> tied_between(const DedupEntry& entry, DedupEntry& last) const;
  void insert(DedupEntry& entry, DedupEntry* before);
  void link(DedupEntry& entry, DedupEntry* before, DedupPlace place);
  DedupPlace room_before(const DedupEntry* entry) const;
  void number_anew();

  DedupSequence list_;
  DedupEntry* first_open_ = nullptr;
  DedupPlace last_shown_ = 0;
  std::vector<HostMarks> hosts_;
  std::size_t behind_;  ///< running hosts that stand at nothing that is here, so before it all
};

}  // namespace podrun
