// SPDX-License-Identifier: Apache-2.0
#include "podrun/hosts/text.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "podrun/base/error.hpp"

namespace podrun {

std::string_view trim_space(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = std::min(text.find_first_not_of(kSpace), text.size());
  return text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
}

std::optional<std::size_t> to_number(std::string_view digits) {
  std::size_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, number);
  return error == std::errc{} && rest == end ? std::optional(number) : std::nullopt;
}

std::optional<std::uint16_t> to_port(std::string_view digits) {
  const std::optional<std::size_t> number = to_number(digits);
  if (!number || *number == 0 || *number > UINT16_MAX) return std::nullopt;
  return static_cast<std::uint16_t>(*number);
}

std::size_t parse_rank(std::string_view text, std::size_t count, std::string_view where) {
  const std::optional<std::size_t> rank = to_number(text);
  if (rank && *rank < count) return *rank;
  throw UsageError(fmt::format("{}: {:?} does not fit its list of {} (expected {})", where, text,
                               count_hosts(count), count == 1 ? "0" : fmt::format("0-{}", count - 1)));
}

std::string count_hosts(std::size_t count) { return fmt::format("{} host{}", count, count == 1 ? "" : "s"); }

}  // namespace podrun
