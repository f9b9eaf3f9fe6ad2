// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace podrun {

/// The system's and libssh's words begin with a capital; ours stand behind a colon.
inline std::string lower_first(std::string_view text) {
  std::string result(text);
  if (!result.empty() && result[0] >= 'A' && result[0] <= 'Z')
    result[0] = static_cast<char>(result[0] - 'A' + 'a');
  return result;
}

}  // namespace podrun
