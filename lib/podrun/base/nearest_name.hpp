// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace podrun {

/// The name that `slip` is a slip of, in any case: the one with the fewest letters put in, taken out or
/// changed, at most half of them; nothing when none is so near.
std::optional<std::string> nearest_name(std::string_view slip, const std::vector<std::string_view>& names);

}  // namespace podrun
