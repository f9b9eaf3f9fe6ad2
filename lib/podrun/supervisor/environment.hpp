// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "podrun/supervisor/command.hpp"

namespace podrun::supervisor {

/// [A-Za-z_][A-Za-z0-9_]*
bool is_variable_name(std::string_view text);

/// Takes the leading NAME=VALUE words off the front of `words`, but for the last: that is the command.
std::vector<Variable> take_assignments(std::vector<std::string>& words);

/// Shell text with `…` for each value of the assignments that it begins with, exported or not. Hides too much
/// rather than too little where a value is no simple word.
std::string hide_values(std::string_view shell_text);

/// `NAME=VALUE` lines, an optional `export`, sh quoting (also over lines), no expansion, `#` comments.
/// Anything else throws UsageError `file:line: …`.
std::vector<Variable> parse_env_file(std::string_view text, std::string_view file);

}  // namespace podrun::supervisor
