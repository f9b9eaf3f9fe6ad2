// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/config/ssh_config_statement.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "podrun/ssh/config/setting_keywords.hpp"

namespace podrun::ssh {
namespace {

/// Whether its value is the whole rest of the line, not words.
bool takes_line(const KnownKeyword& keyword) {
  return keyword.name == "ProxyCommand" || keyword.name == "ProxyJump";
}

bool has_value(const ConfigStatement& statement) {
  const ConfigLine& line = statement.line;
  const KnownKeyword* const keyword = statement.keyword;
  const bool is_read = keyword && (keyword->setting || keyword->unsupported);
  if (!is_read || takes_line(*keyword)) return !line.text.empty();
  const bool any_empty = std::find(line.arguments.begin(), line.arguments.end(), "") != line.arguments.end();
  return !line.arguments.empty() && !any_empty;
}

}  // namespace

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

void refuse_unknown(const ConfigStatement& statement) {
  const auto nearest = nearest_keyword(statement.line.keyword);
  const UsageError error(
      fmt::format("unknown keyword \"{}\" ({})", statement.line.keyword,
                  nearest ? fmt::format("did you mean {}?", *nearest) : "ssh_config(5) lists them"));
  throw PlacedError(statement.where, error);
}

PlacedError::PlacedError(std::string_view where, const UsageError& error)
    : UsageError(fmt::format("{}: {}", where, error.what())) {}

}  // namespace podrun::ssh
