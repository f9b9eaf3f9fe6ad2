// SPDX-License-Identifier: Apache-2.0
#include "cli/repeated_words.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"

namespace podrun::cli {
namespace {

using Words = std::vector<std::string>;

/// `is_kept`: for each option or other word; null: the word is in no row, or has one letter or several.
Words keep(const OptionTable& table, const Words& left,
           const std::function<bool(const std::string& word, const OptionEntry*)>& is_kept) {
  Words kept;
  for (std::size_t i = 0, count = 0; i < left.size(); i += count) {
    count = std::min(table.words_of(left[i]), left.size() - i);
    if (!is_kept(left[i], table.find_word(left[i]))) continue;
    for (std::size_t word = i; word < i + count; ++word) kept.push_back(left[word]);
  }
  return kept;
}

}  // namespace

Words words_to_repeat(const OptionTable& table, const Words& left) {
  return keep(table, left, [](const std::string& /*word*/, const OptionEntry* option) {
    return !option || !option->row.repeat_sets;
  });
}

std::string words_for_hosts(const OptionTable& table) {
  constexpr std::size_t kMost = 300;  // a hint is a line
  std::string words;
  for (const OptionEntry& option : table.entries()) {
    if (option.row.set != OptionSet::reach || option.row.repeat_sets || !option.is_on_command_line())
      continue;
    const std::string name = option.shown.substr(0, option.shown.find_first_of(", "));
    const bool is_list = option.kind == OptionKind::list;
    const std::vector<GivenValue>& given = option.given;
    for (auto each = is_list ? given.begin() : given.end() - 1; each != given.end(); ++each) {
      if (option.kind == OptionKind::flag)
        words += ' ' + (each->text == "true" ? name : "--no-" + option.key());
      else
        words += fmt::format(" {} {}", name, shell_quote_option(each->text));
    }
  }
  const bool can_be_shown = words.size() <= kMost && std::ranges::none_of(words, is_control);
  return can_be_shown && words.find("/dev/fd/") == npos ? words : "";
}

Words words_of_run(const OptionTable& table, const Words& left) {
  return keep(table, left, [](const std::string& word, const OptionEntry* option) {
    return word.starts_with('-') &&
           (!option || (option->owner.empty() && option->row.set != OptionSet::json));
  });
}

}  // namespace podrun::cli
