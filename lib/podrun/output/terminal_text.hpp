// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace podrun {

/// Whether `text` is printable ASCII and tabs: the most common text, which a terminal only shows.
bool is_plain_text(std::string_view text);

/// A host's line made safe for a terminal: tabs and colours stay and are reset at its end, erase-in-line is
/// left out, and whatever else could act is escaped as by escape_controls().
std::string terminal_line(std::string_view line);

/// The same for a host's bytes as they come, without labels: newlines, `\r` and erase-in-line stay too.
class TerminalStream {
 public:
  /// Keeps an unfinished character or sequence at the end for the next call.
  std::string add(std::string_view bytes);
  /// What was kept, escaped, and the reset of what is still coloured.
  std::string end();

 private:
  std::string unfinished_;
  bool colored_ = false;  ///< since the last reset
};

}  // namespace podrun
