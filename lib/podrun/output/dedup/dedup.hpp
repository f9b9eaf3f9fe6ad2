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
  std::chrono::milliseconds late{10'000};  ///< then, how long hosts that print it can be late
  std::size_t bytes = std::size_t{64} << 20U;  ///< for the texts and their bookkeeping
};

/// A line to show once for all hosts that printed it.
struct DedupedLine {
  std::span<const std::size_t> hosts;  ///< ascending
  std::size_t host = 0;                ///< the one whose text it is
  std::string_view text;
  LineEnd end = LineEnd::newline;
  std::span<const DedupText> texts = {};  ///< of other hosts, if they differ and DedupKey::keeps_texts
  bool is_plain = false;                  ///< they are equal by their plain keys
  bool is_shared = false;                 ///< several hosts or processes have printed it
  /// These hosts are so far behind: an equal line was shown, so this one is not.
  std::optional<Sink::Clock::duration> late = std::nullopt;
};

/// Decides which lines of one stream of several hosts are equal (`--dedup`): lines with equal key and end,
/// but no long lines in pieces. Every line is shown, alone or in a shared line, or told to be late, and each
/// host's lines keep their order. Of several processes of a host, each counts as a host of its own.
class Dedup {
 public:
  using Clock = Sink::Clock;
  using TimePoint = Sink::TimePoint;
  using Show = std::function<void(const DedupedLine&)>;

  Dedup(std::size_t hosts, const DedupLimits& limits, Show show);

  /// Another process of the host. Returns its number, which line() takes.
  std::size_t add_process(std::size_t host);
  /// `host`: it, or a process of it.
  void line(TimePoint now, std::size_t host, const SplitLine& line, const DedupKey& key);
  /// No more lines of this host and its processes follow.
  void host_ended(std::size_t host);
  void tick(TimePoint now);
  TimePoint next_tick() const;
  /// Shows the lines of a host that wait, and what must come before them.
  void show_all_of(std::size_t host);
  /// Shows all remaining lines.
  void finish();

  /// Whether a line may have been shown twice, because an earlier equal one was dropped for lack of memory.
  bool overflowed() const { return overflowed_; }
  /// The memory in use.
  std::size_t bytes() const { return store_.bytes(); }

 private:
  struct PrintingHost {
    std::size_t host = 0;          ///< itself, or the one whose process it is
    std::size_t next_process = 0;  ///< of the same host; 0: none
    DedupSequence floating;
    bool in_pieces = false;              ///< the rest of a line follows
    bool in_doubt = false;               ///< a line floats although it may equal a known one
    bool behind = false;                 ///< its last line may be late
    bool holds = false;                  ///< lines that may be late, or were told to be
    std::optional<TimePoint> last_new;   ///< when it last printed a line that nobody had printed
    std::optional<TimePoint> placed_at;  ///< when it printed its last line with a place
    bool running = true;
  };

  void look_up(std::size_t host, const SplitLine& line, const DedupKey& key);
  DedupEntry* find(std::size_t host, const DedupPhrase& phrase);
  DedupEntry* find_held(std::size_t host, const DedupPhrase& phrase);
  DedupEntry* find_passed(std::size_t host, const DedupPhrase& phrase);
  void hold(std::size_t host, DedupEntry& shown);
  void is_new(std::size_t host);
  void joins(std::size_t host, DedupEntry& entry);
  void confirm(std::size_t host);
  void confirm(DedupEntry& entry);
  void add_floating(std::size_t host, const SplitLine& line, DedupPhrase* phrase, const DedupKey& key);
  void meet(std::size_t host, DedupEntry& placed, std::string_view text);
  void share(std::size_t host, DedupEntry& floating, std::string_view text);
  void add(std::size_t host, DedupEntry& entry, std::string_view text);
  void find_complete(DedupEntry& entry);
  void end(std::size_t host);

  void place_floating(std::size_t host, const DedupEntry* last, DedupEntry* before);
  void place_first_floating(std::size_t host, DedupEntry* before);
  bool goes_on_at_once(std::size_t host) const;
  void merge_first_floating(std::size_t host, DedupEntry& same);
  DedupEntry& take_first_floating(PrintingHost& host);

  void show_and_forget();
  void show_through(DedupPlace place);
  void show_floating(PrintingHost& host, const DedupEntry* last);
  void show_oldest();
  void show(DedupEntry& entry);
  void keep_within_bytes();

  const DedupLimits limits_;
  const Show show_;
  TimePoint now_{};
  std::vector<PrintingHost> hosts_;  ///< then their processes
  const std::size_t first_hosts_ = hosts_.size();
  std::size_t running_ = hosts_.size();        ///< with processes
  std::size_t running_hosts_ = hosts_.size();  ///< without
  std::size_t alone_ = 0;                      ///< what runs, if only one does
  TimePoint wait_for_processes_{};             ///< until then, more of them may become known
  DedupStore store_;
  DedupOrder order_;
  DedupAges open_;                  ///< all entries that have not been shown
  DedupEntry* complete_ = nullptr;  ///< the last entry that all running hosts have printed, until it is shown
  std::vector<std::size_t> shown_hosts_;
  std::optional<TimePoint> forgotten_;  ///< when an entry was last dropped early
  bool overflowed_ = false;
};

}  // namespace podrun::output
