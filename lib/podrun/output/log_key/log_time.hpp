// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace podrun::output {

/// The size in bytes of the time of day, `13:00:01` with its fraction, at the start of the text; 0: none. A
/// comma starts a fraction only in Python's form, because it ends a column in a table.
std::size_t clock_size(std::string_view text);

/// The size in bytes of the date and time, with fraction and zone, at the start of the text; 0: none. Knows
/// ISO 8601 with `T` or a blank, and `/` for `-`, also with the year last.
std::size_t datetime_size(std::string_view text);

/// The same for forms that are a time only at the start of a line: `13:00:01`, `11-21 13:00:01`, `11/21/26
/// 13:00:01`, `Nov 21 13:00:01`, `Sat Nov 21 13:00:01`.
std::size_t line_start_time_size(std::string_view text);

}  // namespace podrun::output
