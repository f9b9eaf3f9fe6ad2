// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// The patterns of ssh_config(5): `*` any text, `?` any one character, nothing else is special.
namespace podrun {

/// Of ASCII letters; names of hosts and keywords are compared so.
std::string lower_case(std::string_view text);

bool matches_pattern(std::string_view text, std::string_view pattern);

/// A comma-separated list of patterns: one must match, and none of those that begin with `!`.
bool matches_pattern_list(std::string_view text, std::string_view patterns);

}  // namespace podrun
