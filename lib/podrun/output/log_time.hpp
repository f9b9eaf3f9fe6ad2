// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace podrun {

/// Bytes of the time of day, `13:00:01` and its fraction, that the text begins with; 0: none. A comma counts
/// as the fraction's only as Python writes it, since in a table it ends a column.
std::size_t clock_size(std::string_view text);

/// Bytes of the date and time, fraction and zone included, that the text begins with; 0: none. Knows ISO 8601
/// with `T` or a blank, and `/` for `-`, also with the year last.
std::size_t datetime_size(std::string_view text);

/// The same for what is a time only where a line begins: `13:00:01`, `11-21 13:00:01`, `11/21/26 13:00:01`,
/// `Nov 21 13:00:01`, `Sat Nov 21 13:00:01`.
std::size_t line_start_time_size(std::string_view text);

}  // namespace podrun
