// SPDX-License-Identifier: Apache-2.0
// Expands ranges such as `tpu-[0-15,20]` and Slurm's, and limits how many hosts they may name.
#include "podrun/hosts/host_pattern.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"

namespace podrun::hosts {
namespace {

constexpr std::size_t kMaxDigits = 18;  // fits in 64 bits

struct Range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::size_t width = 0;

  std::uint64_t count() const { return last - first + 1; }
};

/// Reads `20`, `0-15` or `001-128`. Leading zeros give the width, so both ends must agree about them.
Range parse_range(std::string_view text, const HostEntry& entry, Widths widths) {
  constexpr std::string_view kExpected = "numbers from low to high, such as 0-15,20 or 001-128";
  const std::size_t dash = text.find('-');
  const std::string_view low = text.substr(0, dash);
  const std::string_view high = dash == std::string_view::npos ? low : text.substr(dash + 1);
  const std::optional<std::size_t> first = to_number(low);
  const std::optional<std::size_t> last = to_number(high);
  if (!first || !last || std::max(low.size(), high.size()) > kMaxDigits)
    entry.refuse("range", text, kExpected);
  const Range range{*first, *last, low.size()};
  const bool widths_agree = widths == Widths::first_counts || high.size() == low.size() ||
                            (high.size() > low.size() && high.front() != '0');
  if (range.last < range.first || !widths_agree) entry.refuse("range", text, kExpected);
  return range;
}

/// The numbers of a group such as `0-15,20`.
std::vector<std::string> expand_group(std::string_view group, const HostEntry& entry, Widths widths) {
  std::vector<std::string> numbers;
  for (const std::string_view part : split(group, ',')) {
    const Range range = parse_range(part, entry, widths);
    if (range.count() > kMaxHosts - numbers.size()) entry.refuse_more();
    for (std::uint64_t number = range.first; number <= range.last; ++number) {
      numbers.push_back(fmt::format("{:0{}}", number, range.width));
    }
  }
  return numbers;
}

}  // namespace

void HostEntry::refuse(std::string_view what, std::string_view value, std::string_view expected) const {
  const std::string in = value == text ? "" : fmt::format(" in {:?}", text);
  throw UsageError(fmt::format("{}: bad {} {:?}{} (expected {})", where, what, value, in, expected));
}

void HostEntry::refuse_more() const {
  throw UsageError(fmt::format("{}: too many hosts with {:?} (expected at most {})", where, text, kMaxHosts));
}

HostPattern::HostPattern(const HostEntry& entry, Widths widths) {
  std::string_view rest = entry.text;
  for (std::size_t searched = 0;;) {
    const std::size_t open = rest.find('[', searched);
    if (open == std::string_view::npos) break;
    const std::size_t close = rest.find(']', open);
    if (close == std::string_view::npos) entry.refuse("range", rest.substr(open), "a closing \"]\"");
    const std::string_view group = rest.substr(open + 1, close - open - 1);
    if (group.find(':') != std::string_view::npos) {  // an IPv6 address
      searched = close + 1;
      continue;
    }
    pieces_.push_back({rest.substr(0, open), expand_group(group, entry, widths)});
    size_ *= pieces_.back().numbers.size();
    if (size_ > kMaxHosts) entry.refuse_more();
    rest.remove_prefix(close + 1);
    searched = 0;
  }
  pieces_.push_back({rest, {}});
}

std::string HostPattern::at(std::size_t index) const {
  std::string text;
  std::size_t block = size_;
  for (const Piece& piece : pieces_) {
    text += piece.literal;
    if (piece.numbers.empty()) continue;
    block /= piece.numbers.size();
    text += piece.numbers[index / block];
    index %= block;
  }
  return text;
}

}  // namespace podrun::hosts
