// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace podrun {

/// A line of ssh_config(5), or the value of ssh's -o.
struct ConfigLine {
  std::string keyword;                      ///< as it is written; empty: a blank line or a comment
  std::vector<std::string> arguments = {};  ///< without their quotes
  std::string text = {};                    ///< the arguments as they are written, up to the end of the line
};

/// `KEYWORD ARGUMENT...` or `KEYWORD=ARGUMENT...`; single and double quotes, and a backslash before a quote,
/// a backslash or a blank, as ssh reads them. Throws UsageError for a quote that is not closed.
ConfigLine parse_config_line(std::string_view line);

/// Takes the next word as ssh does for keywords and for Match: up to a blank or one `=`, or between double
/// quotes. Nothing after the last one, and for a quote that is not closed; then `text` is nothing.
std::optional<std::string> take_config_word(std::optional<std::string_view>& text);

}  // namespace podrun
