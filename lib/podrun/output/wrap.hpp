// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace podrun::output {

/// Breaks the text between words; lines after the first begin with `indent` spaces. A word wider than a line
/// stays whole. `width`: columns of a line, with its indent. The text starts at column `indent`; the result
/// has no newline at its end.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent = 0);

/// These words in a message precede a command for the user's shell, which is the rest of the message.
inline constexpr std::string_view kBeforeCommand = "retry on just these: ";

/// As wrap(), for a message that begins with `podrun: `; other text stays as it is. A command to copy, such
/// as
/// `(podrun …)`, stays whole and begins a line of its own where it does not fit.
std::string wrap_message(std::string_view text, std::size_t width);

}  // namespace podrun::output
