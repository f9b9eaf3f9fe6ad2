// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace podrun {

/// Whether this is a control character (C0, DEL, C1) or turns the writing direction.
bool acts_on_terminal(char32_t character);

enum class Tabs { escape, keep };

/// Untrusted text made safe to show on a terminal, on one line: control characters (newline, tab and C1 too),
/// those that turn the writing direction and bytes that are no UTF-8 become `\x1b`, everything else stays.
std::string escape_controls(std::string_view text, Tabs tabs = Tabs::escape);

}  // namespace podrun
