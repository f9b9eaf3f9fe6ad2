// SPDX-License-Identifier: Apache-2.0
// PODRUN_HOSTLIST and its like: with thousands of hosts the lists would be most of what a run sends, since
// every host gets them all.
#include "podrun/supervisor/host_lists.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"

namespace podrun::supervisor {
namespace {

/// Sets podrun_unfolded to the lines of its words: TEXT, or PREFIX,FIRST,LAST,SUFFIX[,FORM], where FORM is
/// `p` (numbers of equal width, which have one more digit in front here) or `x` (no number stands there).
/// Adding each line to a long text would copy that each time.
constexpr std::string_view kListFunction =
    "podrun_unfold() { podrun_unfolded=; for podrun_word; do case $podrun_word in *,*) "
    "podrun_begin=${podrun_word%%,*}; podrun_word=${podrun_word#*,}; "
    "podrun_next=${podrun_word%%,*}; podrun_word=${podrun_word#*,}; "
    "podrun_end=${podrun_word%%,*}; podrun_word=${podrun_word#*,}; podrun_chunk=; "
    "while [ $podrun_next -le $podrun_end ]; do "
    "case $podrun_word in *,p) podrun_digits=${podrun_next#?} ;; *,x) podrun_digits= ;; "
    "*) podrun_digits=$podrun_next ;; esac; "
    "podrun_chunk=$podrun_chunk$podrun_n$podrun_begin$podrun_digits${podrun_word%%,*}; "
    "if [ ${#podrun_chunk} -gt 999 ]; then podrun_unfolded=$podrun_unfolded$podrun_chunk; podrun_chunk=; fi; "
    "podrun_next=$((podrun_next + 1)); done; podrun_unfolded=$podrun_unfolded$podrun_chunk ;; "
    "*) podrun_unfolded=$podrun_unfolded$podrun_n$podrun_word ;; esac; done; "
    "podrun_unfolded=${podrun_unfolded#\"$podrun_n\"}; }; ";

/// A number within a text, and what stands around it.
struct Numbered {
  std::string_view prefix;
  std::string_view digits;
  std::string_view suffix;
  std::uint64_t number = 0;

  bool is_padded() const { return digits.size() > 1 && digits.front() == '0'; }
  /// The first number that has more digits than a padded one may have.
  std::uint64_t limit() const {
    std::uint64_t limit = 1;
    for (std::size_t i = 0; i < digits.size(); ++i) limit *= 10;
    return limit;
  }
  std::string text(std::uint64_t other) const {
    return is_padded() ? fmt::format("{}{:0{}}{}", prefix, other, digits.size(), suffix)
                       : fmt::format("{}{}{}", prefix, other, suffix);
  }
};

/// The text with each of its numbers, the last one first. A longer number than a shell can count is text.
std::vector<Numbered> numbers_in(std::string_view text) {
  constexpr std::size_t kMostDigits = 9;
  std::vector<Numbered> found;
  for (std::size_t end = text.size(); end > 0;) {
    if (!is_digit(text[end - 1])) {
      --end;
      continue;
    }
    std::size_t begin = end;
    while (begin > 0 && is_digit(text[begin - 1])) --begin;
    const std::string_view digits = text.substr(begin, end - begin);
    if (const auto number = to_number(digits); number && digits.size() <= kMostDigits)
      found.push_back({text.substr(0, begin), digits, text.substr(end), *number});
    end = begin;
  }
  return found;
}

/// How many values from `at` on are equal.
std::size_t count_equal(const std::vector<std::string_view>& values, std::size_t at) {
  std::size_t end = at + 1;
  while (end < values.size() && values[end] == values[at]) ++end;
  return end - at;
}

/// The values from `at` on whose number grows by one each.
std::size_t count_growing(const std::vector<std::string_view>& values, std::size_t at,
                          const Numbered& first) {
  std::size_t end = at + 1;
  while (end < values.size() && values[end] == first.text(first.number + (end - at))) ++end;
  const std::size_t count = end - at;
  return first.is_padded() ? std::min<std::size_t>(count, first.limit() - first.number) : count;
}

std::string word_of_range(const Numbered& first, std::size_t count) {
  const std::uint64_t begin = first.number + (first.is_padded() ? first.limit() : 0);
  return fmt::format("{},{},{},{}{}", first.prefix, begin, begin + count - 1, first.suffix,
                     first.is_padded() ? ",p" : "");
}

/// The shortest text of an export of its values; empty: there is none but the plain one.
std::string export_folded(const HostListVariable& list) {
  const std::string words = fold_values(split(list.values, '\n'));
  if (words.empty()) return {};
  return fmt::format("podrun_unfold {}; export {}=\"$podrun_unfolded\"; ", words, list.name);
}

std::string export_plain(const HostListVariable& list) {
  return fmt::format("export {}={}; ", list.name, shell_quote_in_line(list.values));
}

}  // namespace

std::string fold_values(const std::vector<std::string_view>& values) {
  constexpr std::size_t kFewest = 3;
  std::string words;
  for (std::size_t at = 0; at < values.size();) {
    if (values[at].find(',') != std::string_view::npos) return {};
    std::string word(values[at]);
    std::size_t count = count_equal(values, at);
    if (count >= kFewest) {
      word = fmt::format("{},1,{},,x", values[at], count);
    } else {
      count = 1;
      for (const Numbered& each : numbers_in(values[at])) {
        const std::size_t growing = count_growing(values, at, each);
        if (growing < kFewest) continue;
        count = growing;
        word = word_of_range(each, growing);
        break;
      }
    }
    words += (at == 0 ? "" : " ") + shell_quote_in_line(word);
    at += count;
  }
  return words;
}

std::string export_lists(const std::vector<HostListVariable>& lists) {
  std::string text;
  bool has_function = false;
  const HostListVariable* before = nullptr;
  for (const HostListVariable& list : lists) {
    std::string plain = export_plain(list);
    std::string folded = export_folded(list);
    if (!folded.empty() && !has_function) folded.insert(0, kListFunction);
    if (before && before->values == list.values)
      plain = fmt::format("export {}=\"${}\"; ", list.name, before->name);
    const bool is_folded = !folded.empty() && folded.size() < plain.size();
    const std::string& shorter = is_folded ? folded : plain;
    if (!list.is_wanted && text.size() + shorter.size() > kMaxLists) continue;
    text += shorter;
    has_function = has_function || is_folded;
    before = &list;
  }
  return text;
}

}  // namespace podrun::supervisor
