// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "podrun/output/line_printer.hpp"
#include "podrun/output/sink.hpp"

namespace podrun::output {

/// Remembers the last lines of every host for the report of a failed run: 10 per stream, each up to 400
/// bytes, bars in their last state; and when it printed last. Read it after the output was drained.
class LastLines final : public Sink {
 public:
  static constexpr std::size_t kLines = 10;  ///< of a stream

  explicit LastLines(std::size_t hosts) : hosts_(hosts), times_(hosts) {}

  void line(const Line& line) override {
    Kept& kept = hosts_[line.host][index_of(line.stream)];
    const std::size_t slot = kept.count++ % kLines;
    kept.lines[slot].assign(last_state(line.text).substr(0, kMaxText));
    kept.numbers[slot] = ++lines_;
    if (!is_stopped_) times_[line.host].last = now_;
  }
  void tick(TimePoint now) override {
    now_ = now;
    if (is_stopped_ && !stopped_at_) stopped_at_ = now;
  }
  void host_ended(std::size_t host) override { times_[host].end = stopped_at_.value_or(now_); }

  /// Ends the count of silence: the lines that follow answer an interrupt. Any thread may call it.
  void stop_clock() { is_stopped_ = true; }
  /// For how long the host had been silent when it ended, or at stop_clock(); none if it was all the time.
  std::optional<Clock::duration> silence(std::size_t host) const {
    const Times& times = times_[host];
    if (!times.last) return std::nullopt;
    return times.end.value_or(*times.last) - *times.last;
  }

  /// The last lines of stderr, or of stdout if stderr had none; oldest first.
  std::vector<std::string> of(std::size_t host) const {
    const Kept& from = kept(host);
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < from.size(); ++i) lines.push_back(from.lines[(from.oldest() + i) % kLines]);
    return lines;
  }
  /// Whether any host has printed on stdout.
  bool has_output() const {
    return std::ranges::any_of(hosts_,
                               [](const auto& host) { return host[index_of(StreamId::out)].count > 0; });
  }
  /// Whether these lines are among the last `lines` lines of all hosts.
  bool are_among_last(std::size_t host, std::uint64_t lines) const {
    const Kept& from = kept(host);
    return from.size() == 0 || lines_ - from.numbers[from.oldest()] < lines;
  }

 private:
  static constexpr std::size_t kMaxText = 400;

  struct Kept {
    std::array<std::string, kLines> lines;
    std::array<std::uint64_t, kLines> numbers{};  ///< each line's number among those of all hosts, from 1
    std::size_t count = 0;                        ///< all lines so far
    std::size_t size() const { return count < kLines ? count : kLines; }
    std::size_t oldest() const { return count < kLines ? 0 : count % kLines; }
  };

  struct Times {
    std::optional<TimePoint> last;  ///< the latest line
    std::optional<TimePoint> end;
  };

  const Kept& kept(std::size_t host) const {
    const auto& streams = hosts_[host];
    const Kept& errors = streams[index_of(StreamId::err)];
    return errors.count > 0 ? errors : streams[index_of(StreamId::out)];
  }

  std::vector<std::array<Kept, kStreams>> hosts_;
  std::vector<Times> times_;
  std::uint64_t lines_ = 0;
  TimePoint now_ = Clock::now();
  std::optional<TimePoint> stopped_at_;
  std::atomic<bool> is_stopped_ = false;
};

}  // namespace podrun::output
