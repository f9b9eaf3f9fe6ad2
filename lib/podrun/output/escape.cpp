// SPDX-License-Identifier: Apache-2.0
// Decides which bytes of a host may reach a terminal unchanged. A host must not be able to change another
// host's line or to control the terminal (title, clipboard, queries): only colours get through.
#include "podrun/output/escape.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/text.hpp"

namespace podrun::output {
namespace {

unsigned char byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

/// Characters that change the order of the text around them. Unicode Standard Annex #9
bool is_bidirectional(char32_t value) {
  return value == 0x061c || value == 0x200e || value == 0x200f || (value >= 0x202a && value <= 0x202e) ||
         (value >= 0x2066 && value <= 0x2069);
}

/// The size in bytes of the harmless character at the start of `text`; 0: there is none.
std::size_t harmless_prefix(std::string_view text) {
  const Utf8Character first = first_utf8(text);
  return acts_on_terminal(first.value) ? 0 : first.bytes;
}

constexpr std::string_view kReset = "\x1b[0m";
constexpr std::size_t kLongestSequence = 64;  // in bytes; longer ones are not colours

bool is_plain(char c) { return (c >= 0x20 && c < 0x7f) || c == '\t'; }

enum class Kind { text, colors, erase_in_line, cursor, control, unfinished };

struct EscapePiece {
  Kind kind;
  std::size_t bytes;
};

constexpr EscapePiece kControl{Kind::control, 1};
constexpr EscapePiece kUnfinished{Kind::unfinished, 1};

/// Excludes 8, which hides text, and the fonts (10-20), which 0 does not reset on the Linux console.
bool is_style(unsigned value) {
  return value <= 7 || value == 9 || (value >= 21 && value <= 59) || (value >= 90 && value <= 107);
}

unsigned number(std::string_view digits) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc::result_out_of_range ? ~0U : value;
}

/// Checks the parameters of Select Graphic Rendition (ECMA-48, 8.3.117). A colour follows 38, 48 and 58, as
/// `5;N` or `2;R;G;B`.
bool are_harmless_colors(std::string_view parameters) {
  bool is_kind_of_color = false;
  for (std::size_t parts_of_color = 0;;) {
    const std::string_view part = parameters.substr(0, parameters.find(';'));
    const unsigned value = number(part);
    if (parts_of_color > 0) {
      --parts_of_color;
    } else if (is_kind_of_color) {
      if (value != 5 && value != 2) return false;
      parts_of_color = value == 5 ? 1 : 3;
      is_kind_of_color = false;
    } else if (is_style(value)) {
      is_kind_of_color =
          (value == 38 || value == 48 || value == 58) && part.find(':') == std::string_view::npos;
    } else {
      return false;
    }
    if (part.size() == parameters.size()) return true;
    parameters.remove_prefix(part.size() + 1);
  }
}

/// `text` begins with ESC.
EscapePiece first_sequence(std::string_view text) {
  if (text.size() == 1) return kUnfinished;
  if (text[1] != '[') return kControl;
  // Progress bars hide and show the cursor (DECTCEM), but the cursor belongs to podrun.
  for (const std::string_view cursor : {"\x1b[?25l", "\x1b[?25h"}) {
    if (text.starts_with(cursor)) return {Kind::cursor, cursor.size()};
    if (cursor.starts_with(text)) return kUnfinished;
  }
  const std::size_t end = text.substr(0, kLongestSequence).find_first_not_of("0123456789;:", 2);
  if (end == std::string_view::npos) return text.size() < kLongestSequence ? kUnfinished : kControl;
  const std::string_view parameters = text.substr(2, end - 2);
  if (text[end] == 'm' && are_harmless_colors(parameters)) return {Kind::colors, end + 1};
  const bool erases = parameters.empty() || parameters == "0" || parameters == "1" || parameters == "2";
  return text[end] == 'K' && erases ? EscapePiece{Kind::erase_in_line, end + 1} : kControl;
}

/// `text` is not empty.
EscapePiece first_piece(std::string_view text) {
  const auto plain_end = std::find_if_not(text.begin(), text.end(), is_plain);
  if (plain_end != text.begin()) return {Kind::text, static_cast<std::size_t>(plain_end - text.begin())};
  if (text.front() == '\x1b') return first_sequence(text);
  const Utf8Character first = first_utf8(text);
  if (first.bytes == 0) return is_cut_off_utf8(text) ? kUnfinished : kControl;
  return {acts_on_terminal(first.value) ? Kind::control : Kind::text, first.bytes};
}

}  // namespace

bool acts_on_terminal(char32_t character) {
  const bool is_control = character < 0x20 || (character >= 0x7f && character < 0xa0);
  return is_control || is_bidirectional(character);
}

std::string escape_controls(std::string_view text, Tabs tabs) {
  std::string safe;
  while (!text.empty()) {
    const bool kept_tab = tabs == Tabs::keep && text.front() == '\t';
    const std::size_t size = kept_tab ? 1 : harmless_prefix(text);
    if (size == 0) {
      fmt::format_to(std::back_inserter(safe), "\\x{:02x}", byte_at(text, 0));
    } else {
      safe += text.substr(0, size);
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return safe;
}

bool is_plain_text(std::string_view text) {
  bool plain = true;
  for (const char c : text) plain &= is_plain(c);  // no early exit, so that the compiler vectorizes it
  return plain;
}

std::string terminal_line(std::string_view line) {
  std::string safe;
  safe.reserve(line.size() + kReset.size());
  bool colored = false;
  while (!line.empty()) {
    const EscapePiece piece = first_piece(line);
    const std::string_view bytes = line.substr(0, piece.bytes);
    if (piece.kind == Kind::text || piece.kind == Kind::colors) {
      safe += bytes;
    } else if (piece.kind != Kind::erase_in_line && piece.kind != Kind::cursor) {
      safe += escape_controls(bytes);
    }
    colored = colored || piece.kind == Kind::colors;
    line.remove_prefix(piece.bytes);
  }
  if (colored) safe += kReset;
  return safe;
}

std::string TerminalStream::add(std::string_view bytes) {
  const std::string joined = unfinished_.empty() ? std::string() : unfinished_.append(bytes);
  std::string_view rest = joined.empty() ? bytes : joined;
  unfinished_.clear();
  std::string safe;
  while (!rest.empty()) {
    const EscapePiece piece = first_piece(rest);
    if (piece.kind == Kind::unfinished) {
      unfinished_ = rest;
      break;
    }
    if (rest.front() == '\n' && std::exchange(colored_, false)) safe += kReset;
    const bool ends_line = rest.front() == '\n' || rest.front() == '\r';
    const std::string_view part = rest.substr(0, piece.bytes);
    if (piece.kind == Kind::control && !ends_line) {
      safe += escape_controls(part);
    } else if (piece.kind != Kind::cursor) {
      safe += part;
    }
    colored_ = colored_ || piece.kind == Kind::colors;
    rest.remove_prefix(piece.bytes);
  }
  return safe;
}

std::string TerminalStream::end() {
  std::string safe = escape_controls(std::exchange(unfinished_, {}));
  if (std::exchange(colored_, false)) safe += kReset;
  return safe;
}

}  // namespace podrun::output
