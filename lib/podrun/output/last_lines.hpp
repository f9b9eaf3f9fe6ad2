// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "podrun/output/line_printer.hpp"
#include "podrun/output/sink.hpp"

namespace podrun::output {

/// Remembers the last lines of every host for the report of a failed run: 10 per stream, each up to 400
/// bytes, bars in their last state. Read it after the output was drained.
class LastLines final : public Sink {
 public:
  explicit LastLines(std::size_t hosts) : hosts_(hosts) {}

  void line(const Line& line) override {
    Kept& kept = hosts_[line.host][index_of(line.stream)];
    const std::size_t slot = kept.count++ % kLines;
    kept.lines[slot].assign(last_state(line.text).substr(0, kMaxText));
    kept.numbers[slot] = ++lines_;
  }

  /// The last lines of stderr, or of stdout if stderr had none; oldest first.
  std::vector<std::string> of(std::size_t host) const {
    const Kept& from = kept(host);
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < from.size(); ++i) lines.push_back(from.lines[(from.oldest() + i) % kLines]);
    return lines;
  }
  /// Whether these lines are among the last `lines` lines of all hosts.
  bool are_among_last(std::size_t host, std::uint64_t lines) const {
    const Kept& from = kept(host);
    return from.size() == 0 || lines_ - from.numbers[from.oldest()] < lines;
  }

 private:
  static constexpr std::size_t kLines = 10;
  static constexpr std::size_t kMaxText = 400;

  struct Kept {
    std::array<std::string, kLines> lines;
    std::array<std::uint64_t, kLines> numbers{};  ///< each line's number among those of all hosts, from 1
    std::size_t count = 0;                        ///< all lines so far
    std::size_t size() const { return count < kLines ? count : kLines; }
    std::size_t oldest() const { return count < kLines ? 0 : count % kLines; }
  };

  const Kept& kept(std::size_t host) const {
    const auto& streams = hosts_[host];
    const Kept& errors = streams[index_of(StreamId::err)];
    return errors.count > 0 ? errors : streams[index_of(StreamId::out)];
  }

  std::vector<std::array<Kept, kStreams>> hosts_;
  std::uint64_t lines_ = 0;
};

}  // namespace podrun::output
