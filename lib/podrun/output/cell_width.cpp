// SPDX-License-Identifier: Apache-2.0
// How many cells of a terminal a character takes: the larger number where terminals differ, so that a line
// never wraps. wcwidth(3) knows nothing in the C locale.
#include "podrun/output/cell_width.hpp"

#include <utf8proc.h>

#include <limits>

#include "podrun/base/text.hpp"

namespace podrun::output {
namespace {

std::size_t width_of(char32_t character) {
  if (character < 0x300) return 1;
  // Terminals differ on symbols that may be shown as emoji, and U+FE0F makes one of the symbol before it.
  if (character >= 0x2600 && character <= 0x27bf) return 2;
  if (character == 0xfe0f) return 1;
  return static_cast<std::size_t>(utf8proc_charwidth(static_cast<utf8proc_int32_t>(character)));
}

struct Character {
  std::size_t bytes = 1;
  std::size_t cells = 1;
};

/// The first character; a byte that is not UTF-8 counts as one.
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

}  // namespace podrun::output
