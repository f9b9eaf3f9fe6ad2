// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
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
/// A duration of at least one millisecond.
std::chrono::milliseconds parse_time_limit(const std::string& text);
/// At least one second.
std::chrono::seconds parse_positive_duration(const std::string& text);

/// How long ago it was: a duration, or a time of day of this machine, `14:05` or `14:05:30`. One that is yet
/// to come today was yesterday.
std::chrono::seconds parse_ago(const std::string& text, std::time_t now);

/// `500`, `20k`, `1.5GB` (units of 1000), `1GiB` (of 1024), in bytes.
std::uint64_t parse_size(const std::string& text);

/// `1GB`: in the largest unit of 1000 that divides it, as parse_size() reads it.
std::string size_option(std::uint64_t bytes);

/// Parses one of several words.
template <typename Value>
struct WordChoice {
  std::vector<std::pair<std::string, Value>> words;

  Value operator()(const std::string& text) const {
    std::string expected;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i].first == text) return words[i].second;
      expected += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i].first;
    }
    throw UsageError(fmt::format("bad value \"{}\" (expected {})", text, expected));
  }
  /// The first word for a value, which must have one.
  const std::string& word_for(const Value& value) const {
    return std::ranges::find(words, value, &std::pair<std::string, Value>::second)->first;
  }
};

}  // namespace podrun::cli
