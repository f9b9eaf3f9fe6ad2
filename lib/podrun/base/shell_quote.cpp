// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/shell_quote.hpp"

#include <algorithm>

namespace podrun {
namespace {

bool is_plain(char c) {
  constexpr std::string_view kPlain = "%+,-./:=@_";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kPlain.find(c) != std::string_view::npos;
}

// A leading `=` has a meaning in zsh, and an assignment before a command in every shell, so both are quoted.
bool is_plain_word(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), is_plain) &&
         word.find('=') == std::string_view::npos;
}

std::string quote(std::string_view word, std::string_view newline) {
  if (is_plain_word(word)) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else if (c == '\n') {
      quoted += newline;
    } else {
      quoted += c;
    }
  }
  return quoted += '\'';
}

}  // namespace

std::string shell_quote(std::string_view word) { return quote(word, "\n"); }

std::string shell_quote(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    text += shell_quote(word);
  }
  return text;
}

std::string shell_quote_option(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (!word.starts_with("--") || equals == std::string::npos) return shell_quote(word);
  const std::string name = word.substr(0, equals);
  return shell_quote(name) == name ? name + '=' + shell_quote(word.substr(equals + 1)) : shell_quote(word);
}

std::string shell_quote_in_line(std::string_view word) { return quote(word, "'\"$podrun_n\"'"); }

}  // namespace podrun
