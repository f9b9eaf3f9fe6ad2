// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/config_line.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "podrun/base/error.hpp"

namespace podrun {
namespace {

constexpr std::string_view kBlank = " \t\r\n\f";

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
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
    if (quote == '\0' && kBlank.find(c) != std::string_view::npos) break;
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
  if (quote != '\0')
    throw UsageError(fmt::format("a quote is not closed in \"{}\" (add the second one)", all));
  return argument;
}

}  // namespace

ConfigLine parse_config_line(std::string_view line) {
  skip_blanks(line);
  if (line.starts_with('#')) return {};
  ConfigLine result;
  result.keyword = line.substr(0, line.find_first_of(" \t\r\n\f=\""));
  line.remove_prefix(result.keyword.size());
  skip_blanks(line);
  if (line.starts_with('=')) line.remove_prefix(1);
  for (skip_blanks(line); !line.empty() && line.front() != '#'; skip_blanks(line)) {
    result.arguments.push_back(take_argument(line));
  }
  return result;
}

}  // namespace podrun
