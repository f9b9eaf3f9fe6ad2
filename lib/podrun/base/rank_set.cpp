// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/rank_set.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"

namespace podrun {
namespace {

constexpr std::size_t kMaxRank = 999'999;

[[noreturn]] void bad_ranks(std::string_view part) {
  throw UsageError(fmt::format("bad worker number \"{}\" (expected numbers and ranges such as 0,3-7)", part));
}

std::size_t parse_rank(std::string_view digits, std::string_view part) {
  std::size_t rank = 0;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
  if (error != std::errc{} || rest != digits.data() + digits.size() || rank > kMaxRank) bad_ranks(part);
  return rank;
}

}  // namespace

std::string fold_ranks(std::vector<std::size_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::string text;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(ranks[first]);
    if (last > first) text += fmt::format("{}{}", last == first + 1 ? ',' : '-', ranks[last]);
    first = last + 1;
  }
  return text;
}

std::vector<std::size_t> parse_ranks(std::string_view text) {
  std::vector<std::size_t> ranks;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t dash = part.find('-');
    const std::size_t first = parse_rank(part.substr(0, dash), part);
    const std::size_t last = dash == std::string_view::npos ? first : parse_rank(part.substr(dash + 1), part);
    if (last < first || ranks.size() + (last - first) > kMaxRank) bad_ranks(part);
    for (std::size_t rank = first; rank <= last; ++rank) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace podrun
