// SPDX-License-Identifier: Apache-2.0
// Reads a file of ssh_config(5) with its Includes into statements.
#include "podrun/ssh/config/ssh_config_file.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/ssh/config/pattern.hpp"
#include "podrun/ssh/config/ssh_config_tokens.hpp"

namespace podrun::ssh {
namespace {

constexpr std::size_t kMaxDepth = 16;  // limit of nested Includes, as in ssh

HostPatterns parse_host(const ConfigLine& line) {
  HostPatterns host;
  for (const std::string& argument : line.arguments) {
    if (argument.empty())
      throw UsageError("an empty pattern of Host (expected names, or patterns with * and ?)");
    const bool negated = argument.starts_with('!');
    host.push_back({.text = argument.substr(negated ? 1 : 0),
                    .negated = negated,
                    .is_literal = argument.find_first_of("*?") == std::string::npos});
  }
  return host;
}

}  // namespace

bool matches(const HostPatterns& host, std::string_view name) {
  bool any = false;
  for (const NamePattern& pattern : host) {
    const bool same = pattern.is_literal ? name == pattern.text : matches_pattern(name, pattern.text);
    if (same && pattern.negated) return false;
    any = any || same;
  }
  return any;
}

std::shared_ptr<const ConfigFile> ConfigReader::read(const std::string& path, ConfigSource source,
                                                     FileTrust trust) {
  const auto found = files_.find({path, source});
  if (found != files_.end()) return found->second;
  const std::optional<std::string> text = world_.read(path, trust);
  if (!text) return nullptr;
  std::shared_ptr<const ConfigFile> file = parse(path, source, *text);
  files_.emplace(std::pair(path, source), file);
  return file;
}

std::shared_ptr<const ConfigFile> ConfigReader::parse(const std::string& path, ConfigSource source,
                                                      std::string_view text) {
  const auto file = std::make_shared<ConfigFile>();
  file->blocks.emplace_back();
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string where = fmt::format("{}:{}", short_path(path, world_.home), ++number);
    try {
      ConfigLine line = parse_config_line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
      const std::string keyword = lower_case(line.keyword);
      if (keyword.empty()) continue;
      if (line.text.empty())
        throw UsageError(fmt::format("no value for \"{}\" (expected {} VALUE)", line.keyword, line.keyword));
      if (keyword == "host") {
        file->blocks.push_back({.condition = parse_host(line)});
      } else if (keyword == "match") {
        file->blocks.push_back({.condition = MatchCriteria{where, parse_match(line.text)}});
      } else if (keyword == "include") {
        file->blocks.back().items.emplace_back(include(line, source));
        file->blocks.back().concerns_all = true;
      } else {
        ConfigStatement statement = parse_statement(std::move(line), source);
        statement.where = where;
        if (!statement.keyword) file->blocks.back().concerns_all = true;
        file->blocks.back().items.emplace_back(std::move(statement));
      }
    } catch (const PlacedError&) {  // the error is in an included file
      throw;
    } catch (const UsageError& error) {
      throw PlacedError(where, error);
    }
  }
  return file;
}

ConfigInclude ConfigReader::include(const ConfigLine& line, ConfigSource source) {
  if (depth_ >= kMaxDepth)
    throw UsageError(
        fmt::format("Include is nested more than {} deep (does a file include itself?)", kMaxDepth));
  ++depth_;
  ConfigInclude result;
  for (const std::string& argument : line.arguments) {
    if (argument.empty()) throw UsageError("an empty name after Include (expected files)");
    const bool is_users = source == ConfigSource::user_file;
    if (argument.starts_with('~') && !is_users)
      throw UsageError(fmt::format("bad Include \"{}\" (expected no ~ in the system's file)", argument));
    const TildePath tilde = split_tilde(argument, world_);
    std::string pattern = tilde.home + std::string(tilde.rest);
    if (!pattern.starts_with('/')) pattern = (is_users ? world_.home + "/.ssh/" : "/etc/ssh/") + pattern;
    for (const std::string& path : world_.glob(pattern)) {
      if (auto file = read(path, source, FileTrust::checked)) result.files.push_back(std::move(file));
    }
  }
  --depth_;
  return result;
}

}  // namespace podrun::ssh
