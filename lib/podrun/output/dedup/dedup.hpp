// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "podrun/output/dedup/dedup_order.hpp"
#include "podrun/output/dedup/dedup_store.hpp"
#include "podrun/output/sink.hpp"

namespace podrun::output {

/// How long lines wait for each other, and how much memory they may take.
struct DedupLimits {
  std::chrono::milliseconds window{500};   ///< the longest time from the first host's line until it is shown
  std::chrono::milliseconds late{10'000};  ///< then, how long hosts that print it are only counted as late
  std::size_t bytes = std::size_t{64} << 20U;  ///< for the texts and their bookkeeping
};

/// A line to show once for all hosts that printed it.
struct DedupedLine {
  std::span<const std::size_t> hosts;  ///< ascending
  std::string_view text;               ///< as printed by one of the hosts, usually the first
  LineEnd end = LineEnd::newline;
};

/// A host's lines that were not shown because equal lines of others had been shown before.
struct LateLines {
  std::size_t lines = 0;
  Sink::Clock::duration lag{};  ///< the longest time from showing a line until the host printed it
};

/// Decides which lines of one stream of several hosts are equal (`--dedup`): lines with equal key and end,
/// but no long lines in pieces. Every line is shown, alone or in a shared line, or counted as late, and each
/// host's lines keep their order.
class Dedup {
 public:
  using Clock = Sink::Clock;
  using TimePoint = Sink::TimePoint;
  using Show = std::function<void(const DedupedLine&)>;

  Dedup(std::size_t hosts, const DedupLimits& limits, Show show);

  /// `key` is compared: the text, or its LogKey.
  void line(TimePoint now, std::size_t host, const SplitLine& line, std::string_view key);
  /// No more lines of this host follow.
  void host_ended(std::size_t host);
  void tick(TimePoint now);
  TimePoint next_tick() const;
  /// Shows the lines of a host that wait, and what must come before them.
  void show_all_of(std::size_t host);
  /// Shows all remaining lines.
  void finish();

  const std::vector<LateLines>& late() const { return late_; }
  /// Whether a line may have been shown twice, because an earlier equal one was dropped for lack of memory.
  bool overflowed() const { return overflowed_; }
  /// The memory in use.
  std::size_t bytes() const { return store_.bytes(); }

 private:
  struct HostState {
    DedupSequence floating;
    bool in_pieces = false;  ///< the rest of a line follows
    bool in_doubt = false;   ///< a line floats although it may equal a known one
    bool running = true;
  };

  void look_up(std::size_t host, const SplitLine& line, std::string_view key);
  DedupEntry* find(std::size_t host, const DedupPhrase& phrase);
  DedupEntry* find_passed(std::size_t host, const DedupPhrase& phrase);
  void add_floating(std::size_t host, const SplitLine& line, DedupPhrase* phrase, std::string_view key);
  void meet(std::size_t host, DedupEntry& placed);
  void share(std::size_t host, DedupEntry& floating);
  void add(std::size_t host, DedupEntry& entry);
  void find_complete(DedupEntry& entry);

  void place_floating(std::size_t host, const DedupEntry* last, DedupEntry* before);
  void place_first_floating(std::size_t host, DedupEntry* before);
  void merge_first_floating(std::size_t host, DedupEntry& same);
  DedupEntry& take_first_floating(HostState& host);

  void show_and_forget();
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
  std::size_t alone_ = 0;  ///< the host that runs, if only one does
  DedupStore store_;
  DedupOrder order_;
  DedupAges open_;                  ///< all entries that have not been shown
  DedupEntry* complete_ = nullptr;  ///< the last entry that all running hosts have printed, until it is shown
  std::vector<std::size_t> shown_hosts_;
  std::vector<LateLines> late_;
  std::optional<TimePoint> forgotten_;  ///< when an entry was last dropped early
  bool overflowed_ = false;
};

}  // namespace podrun::output
