// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace podrun {

/// The name that `slip` was probably meant to be, ignoring case: the name with the fewest inserted, deleted
/// or changed letters. Nothing if every name needs more changes than half the letters of `slip`.
std::optional<std::string> nearest_name(std::string_view slip, const std::vector<std::string_view>& names);

}  // namespace podrun
