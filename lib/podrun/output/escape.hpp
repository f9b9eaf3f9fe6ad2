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

/// Whether `text` is only printable ASCII and tabs, which is the most common text and has no effect on a
/// terminal.
bool is_plain_text(std::string_view text);

/// Makes a host's line safe for a terminal: tabs and colours stay, with a reset at its end; erase-in-line is
/// dropped; escape_controls() treats the rest.
std::string terminal_line(std::string_view line);

/// Makes a host's bytes safe as they come, without labels: newlines, `\r` and erase-in-line stay too.
class TerminalStream {
 public:
  /// Keeps an unfinished character or sequence at the end for the next call.
  std::string add(std::string_view bytes);
  /// Returns the kept bytes, escaped, and a reset if a colour is still on.
  std::string end();

 private:
  std::string unfinished_;
  bool colored_ = false;  ///< a colour was set since the last reset
};

}  // namespace podrun::output
