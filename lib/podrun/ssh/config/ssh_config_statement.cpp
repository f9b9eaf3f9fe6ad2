// SPDX-License-Identifier: Apache-2.0
// Splits a line of ssh_config(5) into keyword and arguments, and checks what needs no host.
#include "podrun/ssh/config/ssh_config_statement.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/ssh/config/settings.hpp"
#include "podrun/ssh/config/ssh_config_value.hpp"

namespace podrun::ssh {
namespace {

constexpr std::string_view kBlank = " \t\r\n";
constexpr std::string_view kBlankAtEnd = " \t\r\n\f";
constexpr std::string_view kBetweenArguments = " \t";

void skip(std::string_view& text, std::string_view characters) {
  text.remove_prefix(std::min(text.find_first_not_of(characters), text.size()));
}

/// Whether a backslash before `next` only quotes it.
bool is_escape(char next, char quote) {
  return next == '\'' || next == '"' || next == '\\' || (next == ' ' && quote == '\0');
}

std::string take_argument(std::string_view& text) {
  const std::string_view all = text;
  std::string argument;
  char quote = '\0';
  while (!text.empty()) {
    const char c = text.front();
    if (quote == '\0' && kBetweenArguments.find(c) != std::string_view::npos) break;
    text.remove_prefix(1);
    if (c == '\\' && !text.empty() && is_escape(text.front(), quote)) {
      argument += text.front();
      text.remove_prefix(1);
    } else if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
    } else if (quote != '\0' && c == quote) {
      quote = '\0';
    } else {
      argument += c;
    }
  }
  if (quote != '\0') throw UsageError(fmt::format("a quote is not closed: {} (add the second one)", all));
  return argument;
}

bool has_value(const ConfigStatement& statement) {
  const ConfigLine& line = statement.line;
  const KnownKeyword* const keyword = statement.keyword;
  const bool is_read = keyword && (keyword->setting || keyword->unsupported);
  const bool takes_line = is_read && (keyword->name == "ProxyCommand" || keyword->name == "ProxyJump");
  if (!is_read || takes_line) return !line.text.empty();
  const bool any_empty = std::find(line.arguments.begin(), line.arguments.end(), "") != line.arguments.end();
  return !line.arguments.empty() && !any_empty;
}

}  // namespace

std::optional<std::string> take_config_word(std::optional<std::string_view>& text) {
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  text.reset();
  const std::size_t end = rest.find_first_of(" \t\r\n\"=");
  std::string word(rest.substr(0, end));
  if (end == std::string_view::npos) return word;
  const char delimiter = rest[end];
  rest.remove_prefix(end + 1);
  if (delimiter == '"') {
    const std::size_t close = rest.find('"');
    if (close == std::string_view::npos) return std::nullopt;
    word += rest.substr(0, close);
    rest.remove_prefix(close + 1);
  }
  skip(rest, kBlank);
  if (delimiter != '"' && delimiter != '=' && rest.starts_with('=')) {
    rest.remove_prefix(1);
    skip(rest, kBlank);
  }
  text = rest;
  return word;
}

ConfigLine parse_config_line(std::string_view line) {
  line = line.substr(0, line.find('\0'));
  line = line.substr(0, line.find_last_not_of(kBlankAtEnd) + 1);
  std::optional<std::string_view> text = line;
  std::optional<std::string> keyword = take_config_word(text);
  if (keyword && keyword->empty()) keyword = take_config_word(text);  // after leading blanks
  if (!keyword || keyword->empty() || keyword->front() == '#') return {};
  ConfigLine result{.keyword = *std::move(keyword)};
  std::string_view arguments = text.value_or(std::string_view());
  skip(arguments, kBlank);
  result.text = arguments;
  for (skip(arguments, kBetweenArguments); !arguments.empty() && arguments.front() != '#';
       skip(arguments, kBetweenArguments)) {
    result.arguments.push_back(take_argument(arguments));
  }
  return result;
}

ConfigStatement parse_statement(ConfigLine line, ConfigSource source) {
  ConfigStatement statement{.line = std::move(line), .source = source};
  statement.keyword = find_keyword(statement.line.keyword);
  if (!has_value(statement)) {
    const std::string& name = statement.line.keyword;
    throw UsageError(fmt::format("no value for \"{}\" (expected {} VALUE)", name, name));
  }
  if (statement.keyword && statement.keyword->setting) {
    SshSettings unused;
    statement.keyword->setting->apply(unused, ConfigValue(statement, nullptr));
  }
  return statement;
}

bool ConfigStatement::is_none() const {
  return line.arguments.size() == 1 && lower_case(line.arguments.front()) == "none";
}

}  // namespace podrun::ssh
