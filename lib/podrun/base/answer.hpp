// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podrun/base/text.hpp"

// Reads what the scripts print on the hosts, into the structs that the build makes of their heads ("#
// Answers:", see .ci/check-scripts). Pure. A host may send anything: a broken line is ignored, and all has a
// limit.
namespace podrun {

/// The limits of all answers: bytes of a text, entries of a list.
inline constexpr std::size_t kMostOfText = 512;
inline constexpr std::size_t kMostEntries = 1024;

/// A line of an answer. Each call takes the next words from it. It returns false, and its argument stays as
/// it was, where they are not what they should be; a word or a text may be empty.
class AnswerLine {
 public:
  template <typename Value>
  using Read = bool (AnswerLine::*)(Value&);

  explicit AnswerLine(std::string_view line) : key_(take_part(line, ' ')), rest_(line) {}

  std::string_view key() const { return key_; }

  bool word(std::string& value);
  bool text(std::string& value);  ///< the rest of the line
  bool letter(char& value);       ///< of a word with one; stays if there is no word
  bool number(std::uint64_t& value);
  bool pid(std::uint64_t& value);
  bool kib(std::uint64_t& bytes);  ///< of a number of kibibytes
  bool seconds(std::chrono::seconds& value);
  bool numbers(std::vector<std::uint64_t>& values);  ///< the rest of the line; what is no number is left out

  /// The only value of a line.
  template <typename Value>
  bool maybe(std::optional<Value>& value, Read<Value> read) {
    Value found{};
    const bool is_whole = (this->*read)(found) && rest_.empty();
    if (is_whole) value = found;
    return is_whole;
  }

  /// Adds an entry, unless the list is full; add_once(): or another entry has the same value.
  template <typename Value>
  bool add(std::vector<Value>& list, Read<Value> read) {
    Value value{};
    return list.size() < kMostEntries && (this->*read)(value) && (list.push_back(std::move(value)), true);
  }
  template <typename Entry>
  bool add(std::vector<Entry>& list) {
    Entry entry;
    return list.size() < kMostEntries && entry.read(*this) && (list.push_back(std::move(entry)), true);
  }
  template <typename Value>
  bool add_once(std::vector<Value>& list, Read<Value> read) {
    return add(list, read) && keep_first(list, std::identity());
  }
  template <typename Entry, typename Value>
  bool add_once(std::vector<Entry>& list, Value Entry::*id) {
    return add(list) && keep_first(list, id);
  }

  /// The entry that the next value names; null: there is none.
  template <typename Entry, typename Value>
  Entry* find(std::vector<Entry>& list, Value Entry::*id, Read<Value> read) {
    Value value{};
    if (!(this->*read)(value)) return nullptr;
    const auto found = std::ranges::find(list, value, id);
    return found == list.end() ? nullptr : &*found;
  }

  /// Keeps the text by the key, if it is one of these and the text is not empty.
  bool put(std::map<std::string, std::string, std::less<>>& values,
           std::initializer_list<std::string_view> keys);

 private:
  /// Removes the last entry if another one has the same id.
  template <typename Entry, typename Id>
  static bool keep_first(std::vector<Entry>& list, Id id) {
    const auto& value = std::invoke(id, list.back());
    if (std::ranges::find(list, value, id) == list.end() - 1) return true;
    list.pop_back();
    return false;
  }

  std::string_view key_;
  std::string_view rest_;
};

/// Reads a line after the first one. Nothing counts after a line `end`.
template <typename Answer>
void read_answer_line(Answer& answer, std::string_view text) {
  if (answer.is_complete) return;
  AnswerLine line(text);
  answer.is_complete = text == "end";
  if (!answer.is_complete) answer.take(line);
}

/// Reads the output of a host from the line `BEGIN NONCE`, where BEGIN is the first word of "# Answers:".
template <typename Answer>
Answer read_answer(std::string_view output, std::string_view nonce) {
  Answer answer;
  const std::string begin = std::string(Answer::kBegin) + ' ' + std::string(nonce);
  while (!output.empty() && !answer.is_complete) {
    const std::string_view line = take_part(output, '\n');
    if (answer.has_begun) read_answer_line(answer, line);
    answer.has_begun = answer.has_begun || line == begin;
  }
  return answer;
}

}  // namespace podrun
