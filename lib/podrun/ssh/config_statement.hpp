// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "podrun/base/error.hpp"
#include "podrun/ssh/config_line.hpp"
#include "podrun/ssh/keywords.hpp"

namespace podrun {

enum class ConfigSource { command_line, user_file, system_file };

/// A keyword with its value, at its place.
struct ConfigStatement {
  ConfigLine line;
  ConfigSource source = ConfigSource::user_file;
  const KnownKeyword* keyword = nullptr;  ///< null: unknown, which IgnoreUnknown may allow
  std::string where = {};                 ///< `~/.ssh/config:12`, `-o`
};

/// Checks what can be checked without a host; its place is left open. Throws UsageError.
ConfigStatement parse_statement(ConfigLine line, ConfigSource source);

/// For a keyword that nobody knows; names the nearest that is one.
[[noreturn]] void refuse_unknown(const ConfigStatement& statement);

/// An error that begins with its place.
class PlacedError : public UsageError {
 public:
  PlacedError(std::string_view where, const UsageError& error);
};

}  // namespace podrun
