// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/escape.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

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

}  // namespace podrun::output
