// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "podrun/ssh/config/match.hpp"
#include "podrun/ssh/config/ssh_config_statement.hpp"
#include "podrun/ssh/config/ssh_config_world.hpp"

namespace podrun::ssh {

struct ConfigFile;

/// The files that an `Include` matched.
struct ConfigInclude {
  std::vector<std::shared_ptr<const ConfigFile>> files;
};

/// A pattern of `Host`.
struct NamePattern {
  std::string text;
  bool negated = false;
  bool is_literal = false;  ///< no `*` and no `?`
};
using HostPatterns = std::vector<NamePattern>;
bool matches(const HostPatterns& host, std::string_view name);

struct MatchCriteria {
  std::string where;
  std::vector<MatchCriterion> criteria;
};

/// The statements below a `Host` or `Match`, or before the first one.
struct ConfigBlock {
  std::variant<std::monostate, HostPatterns, MatchCriteria> condition;
  std::vector<std::variant<ConfigStatement, ConfigInclude>> items = {};
  bool concerns_all = false;  ///< it must be examined even if the condition does not hold
};

struct ConfigFile {
  std::vector<ConfigBlock> blocks;
};

/// Reads files of ssh_config(5), each only once.
class ConfigReader {
 public:
  explicit ConfigReader(const ConfigWorld& world) : world_(world) {}

  /// Null if there is no such file. Throws UsageError with file and line.
  std::shared_ptr<const ConfigFile> read(const std::string& path, ConfigSource source, FileTrust trust);

 private:
  std::shared_ptr<const ConfigFile> parse(const std::string& path, ConfigSource source,
                                          std::string_view text);
  ConfigInclude include(const ConfigLine& line, ConfigSource source);

  const ConfigWorld& world_;
  std::map<std::pair<std::string, ConfigSource>, std::shared_ptr<const ConfigFile>> files_;
  std::size_t depth_ = 0;
};

}  // namespace podrun::ssh
