// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "podrun/output/status_line.hpp"

namespace podrun::top {

/// How much colour a terminal shows. Colours only repeat what a character says.
enum class Palette { none, basic, full };

struct Display {
  output::Charset charset = output::Charset::utf8;
  Palette palette = Palette::none;
};

/// The sign for text that was cut off, one cell wide: `…`, or `+` in ASCII.
std::string_view cut_mark(output::Charset charset);

enum class Style { plain, dim, bold, warning, fault, lost, selected, title };

/// One line of the screen, of at most so many cells. Text must have no control characters.
class StyledLine {
 public:
  StyledLine(const Display& display, std::size_t columns) : display_(display), columns_(columns) {}

  /// Adds what fits.
  StyledLine& add(std::string_view text, Style style = Style::plain);
  /// Adds the text, or its beginning and cut_mark(). Returns false if text was left out.
  bool add_cut(std::string_view text, Style style);
  /// A digit for tenths of 100, brighter the larger it is.
  StyledLine& add_digit(char digit);
  /// Adds blanks up to this cell.
  StyledLine& pad_to(std::size_t cell);
  /// Adds text that ends at this cell, or later if it is too long.
  StyledLine& add_to(std::size_t cell, std::string_view text, Style style = Style::plain);
  /// Adds text that ends at the right border, if it fits after what is there.
  StyledLine& add_right(std::string_view text, Style style = Style::plain);

  std::size_t width() const { return width_; }
  std::size_t left() const { return columns_ - width_; }
  const std::string& bytes() const { return bytes_; }

 private:
  void put(std::string_view text, std::string_view sequence);

  const Display display_;
  const std::size_t columns_;
  std::size_t width_ = 0;
  std::string bytes_ = {};
};

}  // namespace podrun::top
