// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace podrun::top {

/// A key of a terminal in raw mode.
struct Key {
  enum class Kind {
    character,
    up,
    down,
    left,
    right,
    page_up,
    page_down,
    home,
    end,
    enter,
    tab,
    backspace,
    escape
  };

  Kind kind = Kind::character;
  std::string text = {};  ///< of `character`: one UTF-8 character

  friend bool operator==(const Key&, const Key&) = default;
};

/// Turns the bytes of a terminal into keys (ECMA-48, and the control sequences of xterm and its relatives).
/// Unknown sequences, keys with Alt, and text pasted between the marks of bracketed paste give no key; an
/// arrow with Shift or Ctrl is that arrow.
class KeyReader {
 public:
  std::vector<Key> feed(std::string_view bytes);
  /// Whether an ESC waits for the bytes after it; call flush() after a moment without more.
  bool is_unfinished() const;
  /// Gives a lone ESC as the key Escape, and drops the beginning of a sequence.
  std::vector<Key> flush();

 private:
  std::string waiting_;    ///< the beginning of a sequence or character
  bool in_paste_ = false;  ///< between the two marks
};

}  // namespace podrun::top
