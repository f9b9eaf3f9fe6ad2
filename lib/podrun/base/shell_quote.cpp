// SPDX-License-Identifier: Apache-2.0
// Quotes words for a POSIX shell, and splits text into words as a shell does, without expanding anything.
#include "podrun/base/shell_quote.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"

namespace podrun {
namespace {

bool is_plain(char c) {
  constexpr std::string_view kPlain = "%+,-./:=@_";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
         kPlain.find(c) != std::string_view::npos;
}

// Quotes a leading `=`, which zsh expands, and `name=value`, which every shell takes as an assignment.
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

constexpr std::string_view kBlank = " \t\r\n";
constexpr std::string_view kActsUnquoted = "$`|&;<>()";
constexpr std::string_view kEscapableInDoubleQuotes = "$`\"\\\n";

[[noreturn]] void acts_in_a_shell(char c) {
  throw UsageError(fmt::format(
      "unquoted \"{}\" (nothing is expanded here; to mean it literally put it in single quotes)", c));
}

/// Reads one word from the front of a text; `rest()` is what remains.
class WordReader {
 public:
  explicit WordReader(std::string_view text) : text_(text) {}

  std::string read() {
    word_.clear();
    while (!done() && kBlank.find(text_.front()) == std::string_view::npos) step();
    return word_;
  }
  std::string_view rest() const { return text_; }

 private:
  bool done() const { return text_.empty(); }
  char take() {
    const char c = text_.front();
    text_.remove_prefix(1);
    return c;
  }

  void step() {
    const char c = take();
    if (c == '\'') return single_quoted();
    if (c == '"') return double_quoted();
    if (c == '\\') return escaped();
    if (kActsUnquoted.find(c) != std::string_view::npos) acts_in_a_shell(c);
    word_ += c;
  }
  void single_quoted() {
    const std::size_t end = text_.find('\'');
    if (end == std::string_view::npos) throw UsageError("a single quote is not closed (add the second one)");
    word_ += text_.substr(0, end);
    text_.remove_prefix(end + 1);
  }
  void double_quoted() {
    while (!done()) {
      const char c = take();
      if (c == '"') return;
      if (c == '$' || c == '`') acts_in_a_shell(c);
      if (c == '\\' && !done() && kEscapableInDoubleQuotes.find(text_.front()) != std::string_view::npos) {
        escaped();
      } else {
        word_ += c;
      }
    }
    throw UsageError("a double quote is not closed (add the second one)");
  }
  void escaped() {
    if (done()) throw UsageError("a backslash at the end quotes nothing (write two)");
    const char c = take();
    if (c != '\n') word_ += c;  // a backslash before a newline: both are dropped
  }

  std::string_view text_;
  std::string word_;
};

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

std::vector<std::string> split_shell_words(std::string_view text) {
  std::vector<std::string> words;
  for (;;) {
    const std::size_t start = text.find_first_not_of(kBlank);
    if (start == std::string_view::npos) return words;
    WordReader reader(text.substr(start));
    words.push_back(reader.read());
    text = reader.rest();
  }
}

bool is_shell_builtin(std::string_view word) {
  constexpr std::array<std::string_view, 22> kBuiltins = {
      "cd",   "export", "source", ".",    "ulimit", "umask", "type", "set", "alias", "exec",  "eval",
      "wait", "exit",   "unset",  "trap", "read",   "shift", ":",    "if",  "for",   "while", "until"};
  return std::find(kBuiltins.begin(), kBuiltins.end(), word) != kBuiltins.end();
}

}  // namespace podrun
