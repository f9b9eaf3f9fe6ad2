// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
/// Returns nothing at the end or for an open quote; `text` is nothing then.
std::optional<std::string> take_config_word(std::optional<std::string_view>& text);

}  // namespace podrun::ssh
