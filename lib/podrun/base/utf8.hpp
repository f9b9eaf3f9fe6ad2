// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace podrun {

struct Utf8Character {
  std::size_t bytes = 0;  ///< 0: not valid UTF-8
  char32_t value = 0;
};

/// The first character of `text`, which must not be empty. Strict as RFC 3629: no overlong form, no
/// surrogate, nothing above U+10FFFF.
Utf8Character first_utf8(std::string_view text);

}  // namespace podrun
