// SPDX-License-Identifier: Apache-2.0
#include "podrun/report/line_words.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "podrun/output/cell_width.hpp"

namespace podrun::report {

std::string describe_age(std::chrono::seconds age) {
  constexpr std::array<std::pair<std::int64_t, std::string_view>, 4> kUnits = {
      {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}}};
  for (const auto& [size, unit] : kUnits) {
    if (age.count() >= size) return fmt::format("{} {}", age.count() / size, unit);
  }
  return "0 s";
}

std::string describe_ages(std::chrono::seconds least, std::chrono::seconds most) {
  const std::string shortest = describe_age(least);
  const std::string longest = describe_age(most);
  return shortest == longest ? longest : fmt::format("{} to {}", shortest, longest);
}

std::string add_command(std::string begin, const std::string& command, std::size_t least) {
  const std::size_t taken = std::min(output::cell_width(begin), kLineCells - least);
  return std::move(begin) + cut(command, kLineCells - taken);
}

std::string cut(const std::string& text, std::size_t cells) {
  constexpr std::string_view kMore = "...";
  if (output::cell_width(text) <= cells) return text;
  return std::string(output::cut_to_cells(text, cells - kMore.size())) + std::string(kMore);
}

}  // namespace podrun::report
