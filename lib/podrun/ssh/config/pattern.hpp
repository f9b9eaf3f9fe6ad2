// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// The patterns of ssh_config(5): `*` matches any text, `?` any one character; nothing else is special.
namespace podrun::ssh {

bool matches_pattern(std::string_view text, std::string_view pattern);

/// Matches a comma-separated list of patterns: one must match, and none that begins with `!`.
bool matches_pattern_list(std::string_view text, std::string_view patterns);

}  // namespace podrun::ssh
