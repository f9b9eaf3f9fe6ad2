// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace podrun {

/// The name that `slip` was probably meant to be, in upper or lower case: the one that needs the fewest
/// inserted, deleted or changed letters. Nothing if every name needs more than half as many as `slip` has
/// letters.
std::optional<std::string> nearest_name(std::string_view slip, const std::vector<std::string_view>& names);

}  // namespace podrun
