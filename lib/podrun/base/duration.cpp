// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/duration.hpp"

#include <charconv>
#include <cstdint>

#include <fmt/format.h>

#include "podrun/base/error.hpp"

namespace podrun {
namespace {

constexpr std::int64_t kMaxSeconds = 10LL * 365 * 24 * 3600;

std::int64_t seconds_in(std::string_view unit) {
  if (unit.empty() || unit == "s") return 1;
  if (unit == "m") return 60;
  if (unit == "h") return 3600;
  if (unit == "d") return 24 * 3600;
  return 0;
}

}  // namespace

std::chrono::seconds parse_duration(std::string_view text) {
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::int64_t unit = seconds_in({rest, static_cast<std::size_t>(text.data() + text.size() - rest)});
  if (error != std::errc{} || text.starts_with('-') || unit == 0 || number > kMaxSeconds / unit) {
    throw UsageError(
        fmt::format("bad duration \"{}\" (expected a whole number such as 10, 10s, 5m or 2h)", text));
  }
  return std::chrono::seconds(number * unit);
}

std::string format_duration(std::chrono::seconds duration) {
  const auto count = duration.count();
  if (count != 0 && count % 3600 == 0) return fmt::format("{} h", count / 3600);
  if (count != 0 && count % 60 == 0) return fmt::format("{} min", count / 60);
  return fmt::format("{} s", count);
}

std::string duration_option(std::chrono::seconds duration) {
  const std::string text = format_duration(duration);
  const std::size_t blank = text.find(' ');
  return text.substr(0, blank) + text[blank + 1];
}

}  // namespace podrun
