// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/error.hpp"

// Parses the values of options. All throw UsageError: `bad … "value" (expected …)`.
namespace podrun::cli {

std::size_t parse_count(const std::string& text, std::size_t least = 1);
std::uint16_t parse_port(const std::string& text);
/// Parses a whole number from `least` up.
inline auto count_from(std::size_t least) {
  return [least](const std::string& text) { return parse_count(text, least); };
}
/// `true` or `false`; yes, no, on and off too.
bool parse_boolean(const std::string& text);
/// A duration, or a whole number of milliseconds: `500ms`.
std::chrono::milliseconds parse_milliseconds(const std::string& text);
/// At least one second.
std::chrono::seconds parse_positive_duration(const std::string& text);

/// How long ago it was: a duration, or a time of day of this machine, `14:05` or `14:05:30`. One that is yet
/// to come today was yesterday.
std::chrono::seconds parse_ago(const std::string& text, std::time_t now);

/// `500`, `20k`, `1.5GB` (units of 1000), `1GiB` (of 1024), in bytes.
std::uint64_t parse_size(const std::string& text);

/// Parses the words of `choices`.
template <typename Value>
auto choice(const std::vector<std::pair<std::string, Value>>& choices) {
  return [choices](const std::string& text) {
    std::string expected;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      if (choices[i].first == text) return choices[i].second;
      expected += (i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + choices[i].first;
    }
    throw UsageError(fmt::format("bad value \"{}\" (expected {})", text, expected));
  };
}

}  // namespace podrun::cli
