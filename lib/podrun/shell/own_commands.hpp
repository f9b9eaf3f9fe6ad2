// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

// The commands of the prompt of `podrun shell`, which are not for the hosts. Pure.
namespace podrun::shell {

/// Whether the line is such a command (`:hosts`, `exit`). (`: x` is one of sh.)
bool is_own_command(std::string_view line);

/// The first word of the line if it is a known one with a colon; else empty.
std::string_view colon_command(std::string_view line);

/// The lines of `:help`.
std::vector<std::string> help();

/// For Tab.
std::vector<std::string> completions();

}  // namespace podrun::shell
