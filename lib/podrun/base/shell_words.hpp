// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace podrun {

/// Splits by the quoting rules of the POSIX shell (single, double, backslash), without expansions. Throws
/// UsageError at an open quote, or at an unquoted character with a meaning in a shell (`$`, `` ` ``, `|`, …).
/// https://pubs.opengroup.org/onlinepubs/9699919799/utilities/V3_chap02.html#tag_18_02
std::vector<std::string> split_shell_words(std::string_view text);

/// Whether only a shell knows this command, since there is no program for it: `cd`, `export`, `if`.
bool is_shell_builtin(std::string_view word);

}  // namespace podrun
