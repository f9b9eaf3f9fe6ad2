// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace podrun {

struct Utf8Character {
  std::size_t bytes = 0;  ///< 0: none
  char32_t value = 0;
};

/// The character that `text`, which is not empty, begins with. Strict as RFC 3629: nothing longer than
/// needed, no surrogate, nothing beyond U+10FFFF.
Utf8Character first_utf8(std::string_view text);

}  // namespace podrun
