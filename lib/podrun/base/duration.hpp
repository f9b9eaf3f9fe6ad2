// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace podrun {

/// A whole number with an optional unit s, m, h or d: `10`, `10s`, `5m`, `2h`; at most ten years.
/// Throws UsageError that names the text.
std::chrono::seconds parse_duration(std::string_view text);

/// `90 s`, `5 min`, `2 h`: the largest unit that divides it.
std::string format_duration(std::chrono::seconds duration);

/// `90s`, `5m`, `2h`: format_duration() as parse_duration() reads it.
std::string duration_option(std::chrono::seconds duration);

}  // namespace podrun
