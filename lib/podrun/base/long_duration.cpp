// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/long_duration.hpp"

#include <cmath>

#include <fmt/format.h>

namespace podrun {

std::string long_duration(std::chrono::seconds time) {
  using std::chrono::floor;
  constexpr std::chrono::days kYear{365};
  if (time >= 2 * kYear) return fmt::format("{} years", time / kYear);
  if (time >= std::chrono::days(2)) return fmt::format("{} days", floor<std::chrono::days>(time).count());
  if (time >= std::chrono::hours(2)) return fmt::format("{} h", floor<std::chrono::hours>(time).count());
  if (time >= std::chrono::minutes(2))
    return fmt::format("{} min", floor<std::chrono::minutes>(time).count());
  return fmt::format("{} s", time.count());
}

std::string long_offset(double seconds) {
  constexpr double kTwoMinutes = 120;
  if (seconds < kTwoMinutes) return fmt::format("{:.1f} s", seconds);
  return long_duration(std::chrono::seconds(std::llround(seconds)));
}

}  // namespace podrun
