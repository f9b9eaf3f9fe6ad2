// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace podrun::output {

/// Whether this is a control character (C0, DEL, C1) or changes the writing direction.
bool acts_on_terminal(char32_t character);

enum class Tabs { escape, keep };

/// Makes untrusted text safe to show on one line of a terminal. Control characters (newline, tab and C1 too),
/// changes of the writing direction and bytes that are not UTF-8 become `\x1b`; all else stays.
std::string escape_controls(std::string_view text, Tabs tabs = Tabs::escape);

}  // namespace podrun::output
