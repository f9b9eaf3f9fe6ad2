// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"

namespace podrun::hosts {

/// Keeps the hosts that `--workers` selects (nothing: all) and `-x` does not exclude, with their worker
/// numbers. Throws UsageError if an entry matches nothing, or no host is left.
void narrow(std::vector<Host>& hosts, const std::vector<Host>& exclude,
            const std::optional<std::string>& workers);

}  // namespace podrun::hosts
