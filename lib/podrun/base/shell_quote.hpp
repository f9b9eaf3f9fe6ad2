// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace podrun {

/// Quotes a word so that any POSIX shell reads back exactly these bytes (any but NUL). Plain words stay
/// plain.
std::string shell_quote(std::string_view word);

/// The quoted words, joined by blanks.
std::string shell_quote(const std::vector<std::string>& words);

/// Like shell_quote(), but `--name=` needs no quotes, whatever the value needs.
std::string shell_quote_option(const std::string& word);
/// Like shell_quote(), but replaces each newline by `"$podrun_n"`. The surrounding text must run
/// kDefineNewline first.
std::string shell_quote_in_line(std::string_view word);
inline constexpr std::string_view kDefineNewline = "podrun_n=${IFS#??}";

}  // namespace podrun
