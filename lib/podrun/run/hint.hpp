// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "podrun/run/outcome.hpp"

namespace podrun {

/// For a failed command of several words that look meant for a shell (`|`, `&&`, `>`, `*`, `cd`): how to say
/// that.
std::optional<std::string> quoting_hint(const std::vector<std::string>& words,
                                        const std::vector<HostOutcome>& outcomes);

}  // namespace podrun
