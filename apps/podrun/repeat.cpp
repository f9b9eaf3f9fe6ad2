// SPDX-License-Identifier: Apache-2.0
#include "repeat.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "podrun/base/shell_quote.hpp"

namespace podrun {
namespace {

constexpr std::string_view kLeftOut = "…";
constexpr std::size_t kLongest = 500;  ///< bytes; longer ones are no help

/// Bytes of `NAME=` at the beginning of a word; 0: it is no assignment.
std::size_t assignment_prefix(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0) return 0;
  const auto is_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), is_name) ? equals + 1
                                                                                                : 0;
}

/// The word without the value of the assignment that begins at `start`.
std::string without_value(std::string_view word, std::size_t start = 0) {
  const std::size_t prefix = assignment_prefix(word.substr(start));
  if (prefix == 0) return std::string(word);
  return std::string(word.substr(0, start + prefix)) + std::string(kLeftOut);
}

/// A command that is one word: without the values of its leading assignments, as far as they are plain.
std::string without_values(std::string_view text) {
  std::string result;
  for (;;) {
    const std::size_t blank = text.find(' ');
    const std::string_view word = text.substr(0, blank);
    if (blank == std::string_view::npos || assignment_prefix(word) == 0) return result.append(text);
    if (word.find_first_of("'\"\\$`") != std::string_view::npos) return result.append(kLeftOut);
    result.append(without_value(word)).append(" ");
    text.remove_prefix(blank + 1);
  }
}

bool is_option(std::string_view word, std::string_view name) {
  return word == name || (word.starts_with(name) && word.substr(name.size()).starts_with('='));
}

/// `-e`, or one-letter options of which the last is it.
bool takes_variable(std::string_view word) {
  return word == "--env" || (word.size() >= 2 && word[0] == '-' && word[1] != '-' && word.back() == 'e');
}

std::vector<std::string> repeat_options(const std::vector<std::string>& options) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string& word = options[i];
    if (is_option(word, "--ranks") || is_option(word, "--worker")) {
      if (word.find('=') == std::string::npos) ++i;  // its value
    } else if (takes_variable(word) && i + 1 < options.size()) {
      kept.push_back(word);
      kept.push_back(without_value(options[++i]));
    } else if (word.starts_with("--env=")) {
      kept.push_back(without_value(word, 6));
    } else if (word.starts_with("-e")) {
      kept.push_back(without_value(word, 2));
    } else {
      kept.push_back(word);
    }
  }
  return kept;
}

/// `--name=` needs no quotes, whatever the value needs.
std::string quote(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (!word.starts_with("--") || equals == std::string::npos) return shell_quote(word);
  const std::string name = word.substr(0, equals);
  return shell_quote(name) == name ? name + '=' + shell_quote(word.substr(equals + 1)) : shell_quote(word);
}

}  // namespace

std::string repeat_command(const std::vector<std::string>& arguments, const std::string& ranks) {
  const auto separator = std::find(arguments.begin(), arguments.end(), "--");
  std::vector<std::string> words{"podrun", "--ranks", ranks};
  for (std::string& option : repeat_options({arguments.begin(), separator}))
    words.push_back(std::move(option));
  auto word = separator;
  if (word != arguments.end()) words.push_back(*word++);
  if (arguments.end() - word == 1) {
    words.push_back(without_values(*word++));
  }
  for (; word != arguments.end() && assignment_prefix(*word) > 0; ++word)
    words.push_back(without_value(*word));
  words.insert(words.end(), word, arguments.end());
  std::string text;
  for (const std::string& each : words) text += (text.empty() ? "" : " ") + quote(each);
  const bool readable = text.size() <= kLongest && text.find('\n') == std::string::npos;
  return readable ? text : "podrun --ranks " + ranks + " … (the rest as before)";
}

}  // namespace podrun
