// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace podrun::output {

/// The most cells that this UTF-8 text takes on a terminal: the larger number where terminals differ (emoji,
/// bytes that are not UTF-8). Control characters count as one.
std::size_t cell_width(std::string_view text);

/// The longest beginning that fits: whole characters, each with its combining marks.
std::string_view cut_to_cells(std::string_view text, std::size_t cells);

}  // namespace podrun::output
