// SPDX-License-Identifier: Apache-2.0
#include "cli/option_values.hpp"

#include <charconv>

#include "podrun/base/text.hpp"

namespace podrun::cli {

std::size_t parse_count(const std::string& text, std::size_t least) {
  const std::optional<std::size_t> number = to_number(text);
  if (!number || *number < least)
    throw UsageError(fmt::format("bad number \"{}\" (expected {} or more)", text, least));
  return *number;
}

std::uint16_t parse_port(const std::string& text) {
  const std::optional<std::uint16_t> port = to_port(text);
  if (!port) throw UsageError(fmt::format("bad port \"{}\" (expected 1-65535)", text));
  return *port;
}

bool parse_boolean(const std::string& text) {
  for (const std::string_view word : {"true", "yes", "on", "1"}) {
    if (text == word) return true;
  }
  for (const std::string_view word : {"false", "no", "off", "0"}) {
    if (text == word) return false;
  }
  throw UsageError(fmt::format("bad value \"{}\" (expected true or false)", text));
}

std::chrono::milliseconds parse_milliseconds(const std::string& text) {
  constexpr std::size_t kMost = 24 * 3600 * 1000;
  if (!text.ends_with("ms")) return parse_duration(text);
  const std::optional<std::size_t> number = to_number(std::string_view(text).substr(0, text.size() - 2));
  if (!number || *number > kMost) {
    throw UsageError(
        fmt::format("bad duration \"{}\" (expected a whole number such as 500ms, 10s or 2m)", text));
  }
  return std::chrono::milliseconds(*number);
}

std::chrono::seconds parse_positive_duration(const std::string& text) {
  const std::chrono::seconds duration = parse_duration(text);
  if (duration == std::chrono::seconds(0))
    throw UsageError(fmt::format("bad duration \"{}\" (expected at least 1s)", text));
  return duration;
}

std::uint64_t parse_size(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  std::string unit(rest, end);
  std::uint64_t step = 1000;
  if (unit.ends_with("iB")) {
    step = 1024;
    unit.resize(unit.size() - 2);
  } else if (unit.ends_with('B')) {
    unit.pop_back();
  }
  constexpr std::string_view kUnits = "kMGT";
  if (unit == "K") unit = "k";
  const std::size_t power = unit.empty() ? 0 : kUnits.find(unit) + 1;
  const bool is_good = error == std::errc() && (unit.empty() ? step == 1000 : unit.size() == 1 && power > 0);
  double bytes = number;
  for (std::size_t i = 0; i < power; ++i) bytes *= static_cast<double>(step);
  constexpr double kMost = 1e18;
  if (!is_good || !(bytes >= 0) || bytes > kMost)
    throw UsageError(
        fmt::format("bad size \"{}\" (expected bytes, or a number such as 500M, 1.5G or 2GiB)", text));
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace podrun::cli
