// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/nearest_name.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace podrun {
namespace {

constexpr std::size_t kLongest = 100;  // every name is shorter

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

/// The number of inserted, deleted or changed letters that turn one text into the other.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view slip, const std::vector<std::string_view>& names) {
  const std::string written = lower_case(slip.substr(0, kLongest));
  std::optional<std::string> nearest;
  // A more distant name was not meant. With two letters, one change makes another word: `ls` is not `ps`.
  std::size_t least = written.size() <= 2 ? 1 : written.size() / 2 + 1;
  for (const std::string_view name : names) {
    const std::size_t changes = edit_distance(written, lower_case(name));
    if (changes >= least) continue;
    least = changes;
    nearest = name;
  }
  return nearest;
}

}  // namespace podrun
