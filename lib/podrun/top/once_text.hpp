// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/output/status_line.hpp"
#include "podrun/top/top_pod.hpp"

namespace podrun::top {

/// The lines of `podrun top --once`: counts, a table of figures, the odd hosts with their reasons, and the
/// others folded. Text of hosts is escaped. Pure.
std::vector<std::string> once_lines(const Pod& pod, output::Charset charset);

/// Replaces what an ASCII terminal does not have: `°C`, `×`, `·`, `…`; other letters become `?`.
std::string in_charset(std::string text, output::Charset charset);

}  // namespace podrun::top
