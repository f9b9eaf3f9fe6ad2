// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/base/error.hpp"
#include "podrun/ssh/config/keywords.hpp"

namespace podrun::ssh {

/// A line of ssh_config(5), or a value of ssh's -o.
struct ConfigLine {
  std::string keyword;                      ///< as written; empty: a blank line or a comment
  std::vector<std::string> arguments = {};  ///< without their quotes
  std::string text = {};                    ///< the arguments as written, up to the end of the line
};

/// Reads `KEYWORD ARGUMENT...` or `KEYWORD=ARGUMENT...` with ssh's quoting: single and double quotes, and a
/// backslash before a quote, a backslash or a blank. Throws UsageError for an open quote.
ConfigLine parse_config_line(std::string_view line);

/// Removes the next word as ssh does for keywords and Match: up to a blank or one `=`, or in double quotes.
/// None at the end or for an open quote, as `text` is then.
std::optional<std::string> take_config_word(std::optional<std::string_view>& text);

enum class ConfigSource { command_line, user_file, system_file };

/// A keyword with its value and place.
struct ConfigStatement {
  ConfigLine line;
  ConfigSource source = ConfigSource::user_file;
  const KnownKeyword* keyword = nullptr;  ///< null: unknown, which IgnoreUnknown may allow
  std::string where = {};                 ///< `~/.ssh/config:12`, `-o`

  bool is_none() const;  ///< the value is the one word `none`
};

/// Checks everything that does not need a host, and leaves `where` empty. Throws UsageError.
ConfigStatement parse_statement(ConfigLine line, ConfigSource source);

/// An error that begins with its place.
class PlacedError : public UsageError {
 public:
  PlacedError(const std::string& where, const UsageError& error) : UsageError(where + ": " + error.what()) {}
};

}  // namespace podrun::ssh
