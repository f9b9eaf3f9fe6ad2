// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/answer.hpp"

namespace podrun {
namespace {

bool read_number(std::string_view digits, std::uint64_t least, std::uint64_t most, std::uint64_t& value) {
  const std::optional<std::size_t> number = to_number(digits);
  if (!number || *number < least || *number > most) return false;
  value = *number;
  return true;
}

}  // namespace

bool AnswerLine::word(std::string& value) {
  value = take_part(rest_, ' ').substr(0, kMostOfText);
  return true;
}

bool AnswerLine::text(std::string& value) {
  value = std::exchange(rest_, {}).substr(0, kMostOfText);
  return true;
}

bool AnswerLine::letter(char& value) {
  const std::string_view word = take_part(rest_, ' ');
  if (word.size() == 1) value = word.front();
  return word.size() <= 1;
}

bool AnswerLine::number(std::uint64_t& value) {
  return read_number(take_part(rest_, ' '), 0, UINT64_MAX, value);
}

bool AnswerLine::pid(std::uint64_t& value) {
  return read_number(take_part(rest_, ' '), 1, UINT32_MAX, value);
}

bool AnswerLine::kib(std::uint64_t& bytes) {
  constexpr std::uint64_t kKib = 1024;
  std::uint64_t count = 0;
  if (!read_number(take_part(rest_, ' '), 0, UINT64_MAX / kKib, count)) return false;
  bytes = count * kKib;
  return true;
}

bool AnswerLine::seconds(std::chrono::seconds& value) {
  constexpr std::uint64_t kMost = 1ULL << 40U;
  std::uint64_t count = 0;
  if (!read_number(take_part(rest_, ' '), 0, kMost, count)) return false;
  value = std::chrono::seconds(count);
  return true;
}

bool AnswerLine::numbers(std::vector<std::uint64_t>& values) {
  values.clear();
  while (!rest_.empty() && values.size() < kMostEntries) add(values, &AnswerLine::number);
  return true;
}

bool AnswerLine::put(std::map<std::string, std::string, std::less<>>& values,
                     std::initializer_list<std::string_view> keys) {
  if (rest_.empty() || std::ranges::find(keys, key_) == keys.end()) return false;
  values.insert_or_assign(std::string(key_), std::string(rest_.substr(0, kMostOfText)));
  return true;
}

}  // namespace podrun
