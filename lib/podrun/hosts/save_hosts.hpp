// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/probe.hpp"

namespace podrun::hosts {

/// Writes the whole list to ~/podips.txt, at once or not at all. Returns notes that say so, and whether this
/// machine may not reach the hosts by these addresses. Throws UsageError.
std::vector<std::string> save_hosts(const std::vector<Host>& all, bool may_replace, const Probe& probe);

}  // namespace podrun::hosts
