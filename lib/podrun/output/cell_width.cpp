// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/cell_width.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "podrun/base/utf8.hpp"

namespace podrun {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

/// Characters that surely take no cell. A mark that is missing here only makes a text seem too wide.
constexpr std::array kNoCell = {
    Range{0x0300, 0x036f}, Range{0x0483, 0x0489}, Range{0x0591, 0x05bd},   Range{0x0610, 0x061a},
    Range{0x064b, 0x065f}, Range{0x0e31, 0x0e31}, Range{0x0e34, 0x0e3a},   Range{0x0e47, 0x0e4e},
    Range{0x1ab0, 0x1aff}, Range{0x1dc0, 0x1dff}, Range{0x200b, 0x200f},   Range{0x202a, 0x202e},
    Range{0x2060, 0x2064}, Range{0x20d0, 0x20ff}, Range{0x3099, 0x309a},   Range{0xfe00, 0xfe0e},
    Range{0xfe20, 0xfe2f}, Range{0xfeff, 0xfeff}, Range{0xe0100, 0xe01ef},
};

/// Characters that may take two: East Asian Width W and F, and everything near emoji.
constexpr std::array kTwoCells = {
    Range{0x1100, 0x115f},   Range{0x231a, 0x231b},   Range{0x2329, 0x232a},   Range{0x23e9, 0x23f3},
    Range{0x25fd, 0x25fe},   Range{0x2600, 0x27bf},   Range{0x2b1b, 0x2b1c},   Range{0x2b50, 0x2b55},
    Range{0x2e80, 0xa4cf},   Range{0xa960, 0xa97f},   Range{0xac00, 0xd7a3},   Range{0xf900, 0xfaff},
    Range{0xfe10, 0xfe19},   Range{0xfe30, 0xfe6f},   Range{0xff00, 0xff60},   Range{0xffe0, 0xffe6},
    Range{0x16fe0, 0x1b2ff}, Range{0x1f000, 0x1faff}, Range{0x20000, 0x3ffff},
};

template <std::size_t kSize>
bool is_in(const std::array<Range, kSize>& ranges, char32_t character) {
  const auto range = std::partition_point(ranges.begin(), ranges.end(),
                                          [=](const Range& each) { return each.last < character; });
  return range != ranges.end() && range->first <= character;
}

std::size_t width_of(char32_t character) {
  if (character < 0x300) return 1;
  if (is_in(kNoCell, character)) return 0;
  return is_in(kTwoCells, character) ? 2 : 1;  // U+FE0F too: it makes the emoji before it one cell wider
}

struct Character {
  std::size_t bytes = 1;
  std::size_t cells = 1;
};

/// The first one; a byte that is no UTF-8 stands for itself.
Character first_of(std::string_view text) {
  const Utf8Character first = first_utf8(text);
  return first.bytes == 0 ? Character{} : Character{first.bytes, width_of(first.value)};
}

struct Extent {
  std::size_t bytes = 0;
  std::size_t cells = 0;
};

Extent extent_within(std::string_view text, std::size_t cells) {
  Extent extent;
  while (extent.bytes < text.size()) {
    const Character next = first_of(text.substr(extent.bytes));
    if (extent.cells + next.cells > cells) break;
    extent.bytes += next.bytes;
    extent.cells += next.cells;
  }
  return extent;
}

}  // namespace

std::size_t cell_width(std::string_view text) {
  return extent_within(text, std::numeric_limits<std::size_t>::max()).cells;
}

std::string_view cut_to_cells(std::string_view text, std::size_t cells) {
  return text.substr(0, extent_within(text, cells).bytes);
}

}  // namespace podrun
