// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace podrun::output {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Whether it is part of a word: an ASCII letter, a digit or `_`.
constexpr bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

/// The number of bytes before the first one that is not of a kind.
constexpr std::size_t first_not(std::string_view text, bool (*is_kind)(char)) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_kind) - text.begin());
}
constexpr std::size_t digits_size(std::string_view text) { return first_not(text, is_digit); }
constexpr std::size_t blanks_size(std::string_view text) {
  return std::min(text.find_first_not_of(' '), text.size());
}

/// Whether the text begins like `shape`, where each `9` stands for any digit.
constexpr bool begins_like(std::string_view text, std::string_view shape) {
  return text.size() >= shape.size() &&
         std::equal(shape.begin(), shape.end(), text.begin(),
                    [](char want, char c) { return want == '9' ? is_digit(c) : want == c; });
}

/// Whether the word after this text continues one in it: `4.` or `sub-` changes its meaning.
constexpr bool is_joined(std::string_view before) {
  if (!before.ends_with('-') && !before.ends_with('.')) return false;
  return before.size() >= 2 && is_word(before[before.size() - 2]);
}

/// The size in bytes of the colour sequence at the start of the text.
constexpr std::size_t color_size(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != text.npos && text[end] == 'm' ? end + 1 : 0;
}

}  // namespace podrun::output
