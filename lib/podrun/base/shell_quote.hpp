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

/// Splits text into words by the quoting rules of the POSIX shell, without expansions. Throws
/// UsageError at an open quote, or at an unquoted character with a meaning in a shell (`$`, `` ` ``, `|`, …).
/// https://pubs.opengroup.org/onlinepubs/9699919799/utilities/V3_chap02.html#tag_18_02
std::vector<std::string> split_shell_words(std::string_view text);

/// Whether this command exists only inside a shell, not as a program: `cd`, `export`, `if`.
bool is_shell_builtin(std::string_view word);

}  // namespace podrun
