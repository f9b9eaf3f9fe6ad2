// SPDX-License-Identifier: Apache-2.0
// Variables for the command: `-e`, `--env-file` and leading assignments.
#include "podrun/supervisor/environment.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"

namespace podrun::supervisor {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool is_assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  return equals != std::string_view::npos && is_variable_name(word.substr(0, equals));
}

Variable split_assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  return {std::string(word.substr(0, equals)), std::string(word.substr(equals + 1))};
}

/// Bytes of the word of a shell that `text` begins with; all of it where a quote or a parenthesis stays open.
std::size_t word_size(std::string_view text) {
  char quote = 0;
  bool is_dollar_quote = false;  // $'…', in which \' does not end it
  int depth = 0;                 // of $(…), also within double quotes
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && (quote != '\'' || is_dollar_quote)) {
      ++i;
    } else if (quote == '\'') {
      if (c == quote) quote = 0;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')' && depth > 0) {
      --depth;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"' || c == '`') {
      quote = c;
      is_dollar_quote = c == '\'' && i > 0 && text[i - 1] == '$';
    } else if (depth == 0 && std::string_view(" \t\n;&|<>)").find(c) != std::string_view::npos) {
      return i;
    }
  }
  return text.size();
}

/// Bytes of `NAME=` or `NAME+=` that `word` begins with; 0: it begins with none.
std::size_t name_size(std::string_view word) {
  const std::size_t equals = std::min(word.find('='), word.size());
  const bool adds = equals > 0 && word[equals - 1] == '+';
  return equals < word.size() && is_variable_name(word.substr(0, equals - (adds ? 1 : 0))) ? equals + 1 : 0;
}

/// A logical line: newlines inside quotes belong to it.
struct Line {
  std::size_t text_size = 0;  ///< without its comment
  std::size_t size = 0;       ///< without its newline
};

Line first_line(std::string_view text) {
  char quote = 0;
  bool between_words = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool starts_word = std::exchange(between_words, quote == 0 && (c == ' ' || c == '\t'));
    if (c == '\\' && quote != '\'') {
      ++i;
    } else if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '\n') {
      return {i, i};
    } else if (c == '#' && starts_word) {
      return {i, std::min(text.find('\n', i), text.size())};
    }
  }
  return {text.size(), text.size()};
}

}  // namespace

bool is_variable_name(std::string_view text) {
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

std::vector<Variable> take_assignments(std::vector<std::string>& words) {
  if (words.empty()) return {};
  const auto command = std::find_if_not(words.begin(), words.end() - 1, is_assignment);
  std::vector<Variable> environment;
  std::transform(words.begin(), command, std::back_inserter(environment), split_assignment);
  words.erase(words.begin(), command);
  return environment;
}

std::string hide_values(std::string_view shell_text) {
  constexpr std::string_view kBetween = " \t\n;&|";
  std::string shown;
  const auto take = [&](std::size_t size) {
    shown += shell_text.substr(0, size);
    shell_text.remove_prefix(size);
  };
  for (;;) {
    take(std::min(shell_text.find_first_not_of(kBetween), shell_text.size()));
    const std::size_t size = word_size(shell_text);
    const std::size_t name = name_size(shell_text.substr(0, size));
    const std::string_view word = shell_text.substr(0, size);
    if (name > 0) {
      take(name);
      if (size > name) shown += "…";
      shell_text.remove_prefix(size - name);
    } else if (word == "export" || word == "env") {
      take(size);
    } else {
      take(shell_text.size());
      return shown;
    }
  }
}

std::vector<Variable> parse_env_file(std::string_view text, std::string_view file) {
  std::vector<Variable> environment;
  for (std::size_t number = 1; !text.empty();) {
    const Line size = first_line(text);
    const std::string_view line = text.substr(0, size.text_size);
    try {
      if (line.find('\0') != std::string_view::npos) throw UsageError("a NUL byte (values are text)");
      std::vector<std::string> words = split_shell_words(line);
      if (words.size() > 1 && words.front() == "export") words.erase(words.begin());
      if (words.size() > 1 || (words.size() == 1 && !is_assignment(words.front()))) {
        throw UsageError("expected NAME=VALUE, one a line (quote a value with blanks)");
      }
      if (!words.empty()) environment.push_back(split_assignment(words.front()));
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}:{}: {}", file, number, error.what()));
    }
    number += static_cast<std::size_t>(std::count(line.begin(), line.end(), '\n')) + 1;
    text.remove_prefix(std::min(size.size + 1, text.size()));
  }
  return environment;
}

}  // namespace podrun::supervisor
