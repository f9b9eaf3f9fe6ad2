// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/utf8.hpp"

#include <utf8proc.h>

namespace podrun {

Utf8Character first_utf8(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {1, lead};
  utf8proc_int32_t value = 0;
  const utf8proc_ssize_t size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                                 static_cast<utf8proc_ssize_t>(text.size()), &value);
  if (size <= 0) return {};
  return {static_cast<std::size_t>(size), static_cast<char32_t>(value)};
}

}  // namespace podrun
