// SPDX-License-Identifier: Apache-2.0
#include "cli/repeated_words.hpp"

#include <algorithm>
#include <functional>

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

Words words_of_run(const OptionTable& table, const Words& left) {
  return keep(table, left, [](const std::string& word, const OptionEntry* option) {
    return word.starts_with('-') &&
           (!option || (option->owner.empty() && option->row.set != OptionSet::json));
  });
}

}  // namespace podrun::cli
