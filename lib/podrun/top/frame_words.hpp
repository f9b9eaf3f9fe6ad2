// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "podrun/top/frames.hpp"

// Words of the lines of top.sh. What is no number, or too large for sums, is not known. Pure.
namespace podrun::top {

inline constexpr std::size_t kMaxChips = 64;

std::optional<double> to_real(std::string_view text);
std::optional<std::uint64_t> to_count(std::string_view text);
/// A number of units of so many bytes.
std::optional<std::uint64_t> to_bytes(std::string_view text, std::uint64_t unit);
std::optional<double> to_percent(std::string_view text);
/// `IN,OUT`
std::optional<Traffic> to_traffic(std::string_view text, std::uint64_t unit);
/// Text of the host, of at most 200 bytes.
std::string limited(std::string_view text);

/// `BUSY,USED,TOTAL,MICROWATTS,MILLIDEGREES` of an AMD GPU.
Chip to_amd_chip(std::string_view text, std::size_t index);
/// A row of nvidia-smi, in the order that top.sh asks for; none for other text.
std::optional<Chip> to_nvidia_chip(std::string_view row);

/// The numbers of a line of `df -Pk`, whose first and last words may have blanks: the mount's own path ends
/// it.
bool read_df(std::string_view line, Mount& mount);

/// Reads a word of a frame; false: it is not one of these counters.
bool read_counter(std::string_view word, Counters& now);
/// `cTICKS` begins them; the others follow.
void read_slow_counter(std::string_view word, std::optional<SlowCounters>& slow);

}  // namespace podrun::top
