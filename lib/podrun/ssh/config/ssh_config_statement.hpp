// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "podrun/base/error.hpp"
#include "podrun/ssh/config/keywords.hpp"
#include "podrun/ssh/config/ssh_config_line.hpp"

namespace podrun::ssh {

enum class ConfigSource { command_line, user_file, system_file };

/// A keyword with its value and place.
struct ConfigStatement {
  ConfigLine line;
  ConfigSource source = ConfigSource::user_file;
  const KnownKeyword* keyword = nullptr;  ///< null: unknown, which IgnoreUnknown may allow
  std::string where = {};                 ///< `~/.ssh/config:12`, `-o`
};

/// Checks all that needs no host, and leaves the place empty. Throws UsageError.
ConfigStatement parse_statement(ConfigLine line, ConfigSource source);

/// Throws for an unknown keyword; names the nearest known one.
[[noreturn]] void refuse_unknown(const ConfigStatement& statement);

/// An error that begins with its place.
class PlacedError : public UsageError {
 public:
  PlacedError(std::string_view where, const UsageError& error);
};

}  // namespace podrun::ssh
