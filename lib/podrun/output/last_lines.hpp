// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "podrun/output/sink.hpp"

namespace podrun {

/// Remembers the last lines of every host, for the end of a run that fails: 10 of each stream, of each at
/// most 400 bytes. Bars are kept in their last state. Read it when the output has been drained.
class LastLines final : public Sink {
 public:
  explicit LastLines(std::size_t hosts) : hosts_(hosts) {}

  void line(const Line& line) override;

  /// Those of stderr, or of stdout where stderr said nothing; the oldest first.
  std::vector<std::string> of(std::size_t host) const;
  /// Whether they are among the last `lines` of all hosts.
  bool are_among_last(std::size_t host, std::uint64_t lines) const;

 private:
  static constexpr std::size_t kLines = 10;

  struct Kept {
    std::array<std::string, kLines> lines;
    std::array<std::uint64_t, kLines> numbers{};  ///< of a line among those of all hosts, from 1
    std::size_t count = 0;                        ///< ever
    std::size_t size() const { return count < kLines ? count : kLines; }
    std::size_t oldest() const { return count < kLines ? 0 : count % kLines; }
  };

  const Kept& kept(std::size_t host) const;

  std::vector<std::array<Kept, kStreams>> hosts_;
  std::uint64_t lines_ = 0;
};

}  // namespace podrun
