// SPDX-License-Identifier: Apache-2.0
#include "cli/option_values.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

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

std::chrono::milliseconds parse_time_limit(const std::string& text) {
  const std::chrono::milliseconds limit = parse_milliseconds(text);
  if (limit == limit.zero())
    throw UsageError(fmt::format("bad duration \"{}\" (expected at least 1ms)", text));
  return limit;
}

std::chrono::seconds parse_positive_duration(const std::string& text) {
  const std::chrono::seconds duration = parse_duration(text);
  if (duration == std::chrono::seconds(0))
    throw UsageError(fmt::format("bad duration \"{}\" (expected at least 1s)", text));
  return duration;
}

namespace {

constexpr int kMinute = 60;
constexpr int kHour = 60 * kMinute;

/// Seconds after midnight: `14:05`, `14:05:30`.
std::optional<int> parse_time_of_day(std::string_view text) {
  constexpr std::array<std::size_t, 3> kMost = {23, 59, 59};
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > kMost.size()) return std::nullopt;
  int time = 0;
  for (std::size_t i = 0; i < kMost.size(); ++i) {
    const std::optional<std::size_t> number = i < parts.size() ? to_number(parts[i]) : 0;
    if (!number || *number > kMost.at(i)) return std::nullopt;
    time = time * kMinute + static_cast<int>(*number);
  }
  return time;
}

/// This time of the day of `now`, in the time zone of this machine, or of an earlier day.
std::time_t on_day(std::time_t now, int time_of_day, int days_before) {
  std::tm local{};
  ::localtime_r(&now, &local);
  local.tm_mday -= days_before;
  local.tm_hour = time_of_day / kHour;
  local.tm_min = time_of_day % kHour / kMinute;
  local.tm_sec = time_of_day % kMinute;
  local.tm_isdst = -1;
  return std::mktime(&local);
}

}  // namespace

std::chrono::seconds parse_ago(const std::string& text, std::time_t now) {
  if (const std::optional<int> time = parse_time_of_day(text)) {
    std::time_t then = on_day(now, *time, 0);
    if (then > now) then = on_day(now, *time, 1);
    return std::chrono::seconds(now - then);
  }
  try {
    return parse_duration(text);
  } catch (const UsageError&) {
    throw UsageError(fmt::format(
        "bad time \"{}\" (expected a duration such as 10m or 2h, or a time of day such as 14:05)", text));
  }
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

std::string size_option(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  for (; bytes != 0 && bytes % 1000 == 0 && unit + 1 < kUnits.size(); ++unit) bytes /= 1000;
  return fmt::format("{}{}", bytes, kUnits.at(unit));
}

}  // namespace podrun::cli
