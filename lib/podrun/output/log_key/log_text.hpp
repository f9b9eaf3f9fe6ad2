// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "podrun/base/text.hpp"

namespace podrun::output {

constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
constexpr bool is_letter(char c) { return is_lower(to_lower(c)); }
constexpr bool is_hex_digit(char c) { return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'f'); }

/// Whether it is part of a word: an ASCII letter, a digit or `_`.
constexpr bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

/// The size in bytes of the colour sequence at the start of the text.
constexpr std::size_t color_size(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != text.npos && text[end] == 'm' ? end + 1 : 0;
}

/// Whether a colour sequence ends the text.
constexpr bool ends_color(std::string_view text) {
  if (!text.ends_with('m')) return false;
  const std::size_t last = text.find_last_not_of("0123456789;", text.size() - 2);
  return last != text.npos && last > 0 && text[last] == '[' && text[last - 1] == '\x1b';
}

/// Whether a word begins at this place that is not a part of a longer one: `4.` or `sub-` changes its
/// meaning.
constexpr bool begins_word(std::string_view line, std::size_t at) {
  if (at == 0) return true;
  const char before = line[at - 1];
  if (is_word(before)) return before == 'm' && ends_color(line.substr(0, at));
  return (before != '-' && before != '.') || at < 2 || !is_word(line[at - 2]);
}

/// The end of a number of any form: `2`, `2.31`, `1,024`, `0:12:13`, `2.3e-05`
constexpr std::size_t number_end(std::string_view line, std::size_t at) {
  const auto digits_end = [line](std::size_t from) {
    while (from < line.size() && is_digit(line[from])) ++from;
    return from;
  };
  at = digits_end(at);
  while (at + 1 < line.size() && (line[at] == '.' || line[at] == ',' || line[at] == ':') &&
         is_digit(line[at + 1]))
    at = digits_end(at + 1);
  if (at >= line.size() || to_lower(line[at]) != 'e') return at;
  const bool has_sign = at + 1 < line.size() && (line[at + 1] == '-' || line[at + 1] == '+');
  const std::size_t exponent = at + (has_sign ? 2 : 1);
  return digits_end(exponent) > exponent ? digits_end(exponent) : at;
}

/// The begin of the number at `at` with its sign.
constexpr std::size_t signed_begin(std::string_view line, std::size_t at) {
  if (at == 0 || (line[at - 1] != '-' && line[at - 1] != '+')) return at;
  return at >= 2 && is_word(line[at - 2]) ? at : at - 1;
}

/// The end of the text between two parts of a prefix: ` `, ` - `, ` | `, `: `, with colours.
constexpr std::size_t separator_end(std::string_view line, std::size_t at) {
  for (std::size_t color = 1; color != 0; at += color) {
    at = std::min(line.find_first_not_of(" -|:\t", at), line.size());
    color = color_size(line.substr(at));
  }
  return at;
}

}  // namespace podrun::output
