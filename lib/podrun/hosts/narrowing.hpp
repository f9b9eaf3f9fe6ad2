// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"

namespace podrun {

/// Leaves those that `--ranks` (nothing: all) names and `-x` does not; their labels stay. Throws UsageError
/// when an entry matches nothing, or nothing is left.
void narrow(std::vector<Host>& hosts, const std::vector<Host>& exclude,
            const std::optional<std::string>& ranks);

}  // namespace podrun
