// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "podrun/base/stream_id.hpp"
#include "podrun/output/dedup_entries.hpp"
#include "podrun/output/dedup_order.hpp"
#include "podrun/output/dedup_store.hpp"
#include "podrun/output/sink.hpp"

namespace podrun {

/// How long lines wait for each other, and what may be kept for it.
struct DedupLimits {
  std::chrono::milliseconds window{500};   ///< from when a line was first said to when it is shown, at most
  std::chrono::milliseconds late{10'000};  ///< from then on for hosts that say it to be counted only
  std::size_t bytes = std::size_t{64} << 20U;  ///< for the texts and all that it takes to keep them
};

/// A line to be shown once for all the hosts that said it.
struct DedupedLine {
  std::span<const std::size_t> hosts;  ///< ascending
  StreamId stream = StreamId::out;
  std::string_view text;  ///< as one of them said it, mostly the first
  LineEnd end = LineEnd::newline;
};

/// A host's lines that were not shown, since others' had been already.
struct LateLines {
  std::size_t lines = 0;
  Sink::Clock::duration lag{};  ///< the longest from when a line was shown to when the host said it
};

/// Decides which lines of the hosts are the same (`--dedup`): those with the same stream, key and end. Every
/// line of every host is in one line that is shown or counted as late, and each host's are shown in its
/// order. Pieces of a line, and its rest, are the same as nothing. The time is that which was given last.
class Dedup {
 public:
  using Clock = Sink::Clock;
  using TimePoint = Sink::TimePoint;
  using Show = std::function<void(const DedupedLine&)>;

  Dedup(std::size_t hosts, const DedupLimits& limits, Show show);

  /// `key` is what is compared: the text, or what it is reduced to.
  void line(TimePoint now, const Line& line, std::string_view key);
  /// No line of this host follows.
  void host_ended(std::size_t host);
  void tick(TimePoint now);
  TimePoint next_tick() const;
  /// Shows all that is left.
  void finish();

  const std::vector<LateLines>& late() const { return late_; }
  /// A line may have been shown twice, since what it is the same as had to be forgotten for want of room.
  bool overflowed() const { return overflowed_; }
  /// What is kept takes so many.
  std::size_t bytes() const { return store_.bytes(); }

 private:
  struct HostState {
    DedupSequence floating;
    std::array<bool, kStreams> in_pieces{};
    bool in_doubt = false;  ///< something floats although there is what it might be the same as
    bool running = true;
  };

  void look_up(const Line& line, std::string_view key);
  DedupEntry* find(std::size_t host, const DedupPhrase& phrase);
  DedupEntry* find_passed(std::size_t host, const DedupPhrase& phrase);
  void add_floating(const Line& line, DedupPhrase* phrase, std::string_view key);
  void meet(std::size_t host, DedupEntry& placed);
  void share(std::size_t host, DedupEntry& floating);
  void add(std::size_t host, DedupEntry& entry);
  void find_complete(DedupEntry& entry);

  void place_floating(std::size_t host, const DedupEntry* last, DedupEntry* before);
  void place_first_floating(std::size_t host, DedupEntry* before);
  void merge_first_floating(std::size_t host, DedupEntry& same);
  DedupEntry& take_first_floating(HostState& host);

  void settle();
  void show_through(DedupPlace place);
  void show_floating(HostState& host, const DedupEntry* last);
  void show_oldest();
  void show(DedupEntry& entry);
  void keep_within_bytes();

  const DedupLimits limits_;
  const Show show_;
  TimePoint now_{};
  std::vector<HostState> hosts_;
  std::size_t running_;
  std::size_t alone_ = 0;  ///< the one host that runs, if it is one
  DedupStore store_;
  DedupOrder order_;
  DedupAges open_;                  ///< all that is not shown
  DedupEntry* complete_ = nullptr;  ///< the last that all running hosts have said, until it is shown
  std::vector<std::size_t> shown_hosts_;
  std::vector<LateLines> late_;
  std::optional<TimePoint> forgotten_;  ///< when it was last done before its time
  bool overflowed_ = false;
};

}  // namespace podrun
