// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

// Our own tables, since wcwidth(3) knows nothing in the C locale.
namespace podrun {

/// The most cells that this UTF-8 text takes on a terminal: where terminals differ (emoji, bytes that are no
/// UTF-8), the larger number. Control characters count as one.
std::size_t cell_width(std::string_view text);

/// The longest beginning that fits: whole characters, each with the marks that combine with it.
std::string_view cut_to_cells(std::string_view text, std::size_t cells);

}  // namespace podrun
