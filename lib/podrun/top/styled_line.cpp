// SPDX-License-Identifier: Apache-2.0
// Text with colours, cut to the width of the screen.
#include "podrun/top/styled_line.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "podrun/output/cell_width.hpp"
#include "podrun/top/once_text.hpp"

namespace podrun::top {
namespace {

std::string_view sequence_of(Style style) {
  if (style == Style::dim) return "\x1b[2m";
  if (style == Style::bold || style == Style::title) return "\x1b[1m";
  if (style == Style::warning) return "\x1b[33m";
  if (style == Style::fault) return "\x1b[31m";
  if (style == Style::lost) return "\x1b[31;7m";
  return style == Style::selected ? "\x1b[7m" : "";
}

}  // namespace

std::string_view cut_mark(output::Charset charset) { return charset == output::Charset::utf8 ? "…" : "+"; }

void StyledLine::put(std::string_view text, std::string_view sequence) {
  const std::string shown = in_charset(std::string(text), display_.charset);
  const std::string_view cut = output::cut_to_cells(shown, left());
  if (shown.empty() || left() == 0) return;
  width_ += output::cell_width(cut);
  bytes_ += sequence;
  bytes_ += cut;
  if (!sequence.empty()) bytes_ += "\x1b[0m";
  if (cut.size() == shown.size()) return;
  bytes_.append(left(), ' ');  // the rest of a wide character: nothing follows
  width_ = columns_;
}

/// The cursor's line is reverse without colours too: no character would say it.
StyledLine& StyledLine::add(std::string_view text, Style style) {
  const bool is_shown = display_.palette != Palette::none || style == Style::selected;
  put(text, is_shown ? sequence_of(style) : "");
  return *this;
}

bool StyledLine::add_cut(std::string_view text, Style style) {
  const bool fits = output::cell_width(text) <= left();
  if (fits || left() < 2) {
    add(text, style);
    return fits;
  }
  add(output::cut_to_cells(text, left() - 1), style).add(cut_mark(display_.charset), Style::dim);
  return false;
}

StyledLine& StyledLine::add_digit(char digit) {
  const int tenths = digit - '0';
  std::string sequence;
  if (display_.palette == Palette::full) {
    constexpr int kRamp[] = {24, 25, 31, 32, 38, 74, 110, 146, 189, 231};  // from blue to white, of 256
    sequence = fmt::format("\x1b[38;5;{}m", kRamp[tenths]);
  } else if (display_.palette == Palette::basic) {
    constexpr int kLow = 4;
    constexpr int kHigh = 8;
    sequence = tenths < kLow ? "\x1b[2m" : tenths < kHigh ? "" : "\x1b[1m";
  }
  put(std::string_view(&digit, 1), sequence);
  return *this;
}

StyledLine& StyledLine::pad_to(std::size_t cell) {
  if (cell > width_) put(std::string(cell - width_, ' '), "");
  return *this;
}

StyledLine& StyledLine::add_to(std::size_t cell, std::string_view text, Style style) {
  const std::size_t width = output::cell_width(text);
  return pad_to(cell - std::min(cell, width)).add(text, style);
}

StyledLine& StyledLine::add_right(std::string_view text, Style style) {
  const std::size_t cells = output::cell_width(in_charset(std::string(text), display_.charset));
  if (cells + 1 > left()) return *this;
  pad_to(columns_ - cells);
  return add(text, style);
}

}  // namespace podrun::top
