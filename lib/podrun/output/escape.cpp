// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/escape.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>

namespace podrun {
namespace {

unsigned char byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

/// What the first byte of a UTF-8 sequence says about its length; 0: it is none.
std::size_t sequence_size(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 0;
}

/// What Unicode 3.9, table 3-7 excludes: longer than needed, surrogates, beyond U+10FFFF.
bool is_overlong_or_no_character(unsigned char lead, unsigned char second) {
  return (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
         (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f);
}

/// Bytes of the harmless character that `text` begins with; 0: it begins with none.
std::size_t harmless_prefix(std::string_view text) {
  const unsigned char lead = byte_at(text, 0);
  if (lead < 0x20 || lead == 0x7f) return 0;
  const std::size_t size = sequence_size(lead);
  if (size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
  }
  const bool c1_control = lead == 0xc2 && byte_at(text, 1) < 0xa0;
  return c1_control || (size > 2 && is_overlong_or_no_character(lead, byte_at(text, 1))) ? 0 : size;
}

}  // namespace

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

}  // namespace podrun
