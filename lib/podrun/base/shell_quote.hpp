// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace podrun {

/// One shell word that reads back as exactly these bytes (any but NUL), in any POSIX shell; plain words stay
/// plain.
std::string shell_quote(std::string_view word);

/// The words quoted and joined by blanks.
std::string shell_quote(const std::vector<std::string>& words);

/// Like shell_quote, without a newline in it: newlines become `"$podrun_n"`. The text it stands in must have
/// run kDefineNewline before.
std::string shell_quote_in_line(std::string_view word);
inline constexpr std::string_view kDefineNewline = "podrun_n=${IFS#??}";

}  // namespace podrun
