// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/bytes_text.hpp"

#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace podrun {

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  return fmt::format("{:.{}f} {}", value, unit > 0 && value < 9.95 ? 1 : 0, kUnits[unit]);
}

}  // namespace podrun
