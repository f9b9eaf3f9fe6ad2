// SPDX-License-Identifier: Apache-2.0
#include "podrun/hosts/list_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"

namespace podrun::hosts {

std::string_view trim(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

void refuse_control_characters(std::string_view text, std::string_view where) {
  const auto found = std::find_if(text.begin(), text.end(), is_control);
  if (found == text.end()) return;
  const std::string character(1, *found);
  throw UsageError(fmt::format("{}: control character {:?} (expected plain text)", where, character));
}

std::string without_blanks_around_equals(std::string_view line) {
  std::string result;
  for (const char c : line) {
    if (c == '=') result.erase(result.find_last_not_of(' ') + 1);
    if (c != ' ' || !result.ends_with('=')) result += c;
  }
  return result;
}

bool is_comma(char c) { return c == ',' || c == ';'; }

std::string_view take_list_word(std::string_view& line) {
  const bool is_file = line.starts_with('^');
  bool in_brackets = false;
  std::size_t end = 0;
  for (; end < line.size(); ++end) {
    if (!in_brackets && (is_comma(line[end]) || (line[end] == ' ' && !is_file))) break;
    if (line[end] == '[' || line[end] == ']') in_brackets = line[end] == '[';
  }
  const std::string_view word = trim(line.substr(0, end));
  line.remove_prefix(end);
  return word;
}

bool is_quoted(std::string_view word) {
  return word.size() > 2 && (word.front() == '"' || word.front() == '\'') && word.front() == word.back();
}

bool is_of_grid_engine(std::string_view line) {
  const std::string_view host = take_word(line);
  const std::string_view count = take_word(line);
  return to_number(count) && take_word(line).ends_with(fmt::format("@{}", host));
}

}  // namespace podrun::hosts
