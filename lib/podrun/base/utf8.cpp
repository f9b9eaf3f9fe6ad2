// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/utf8.hpp"

#include <array>

namespace podrun {

Utf8Character first_utf8(std::string_view text) {
  const auto byte_at = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte_at(0);
  if (lead < 0x80) return {1, lead};
  if (lead < 0xc2 || lead > 0xf4) return {};
  const std::size_t size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (size > text.size()) return {};
  char32_t value = lead & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte_at(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte_at(i) & 0x3fU);
  }
  constexpr std::array<char32_t, 3> kSmallest = {0x80, 0x800, 0x10000};
  const bool is_surrogate = value >= 0xd800 && value < 0xe000;
  if (value < kSmallest[size - 2] || value > 0x10ffff || is_surrogate) return {};
  return {size, value};
}

}  // namespace podrun
