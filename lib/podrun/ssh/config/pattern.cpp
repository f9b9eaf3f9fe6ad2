// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/config/pattern.hpp"

#include <cstddef>

#include "podrun/base/text.hpp"

namespace podrun::ssh {

bool matches_pattern(std::string_view text, std::string_view pattern) {
  std::size_t t = 0;
  std::size_t p = 0;
  std::size_t star = std::string_view::npos;  // the last `*`
  std::size_t left = 0;                       // the end of the text that it matches so far
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      left = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++left;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool matches_pattern_list(std::string_view text, std::string_view patterns) {
  bool matches = false;
  while (!patterns.empty()) {
    std::string_view pattern = take_part(patterns, ',');
    const bool negated = pattern.starts_with('!');
    if (negated) pattern.remove_prefix(1);
    if (!matches_pattern(text, pattern)) continue;
    if (negated) return false;
    matches = true;
  }
  return matches;
}

}  // namespace podrun::ssh
