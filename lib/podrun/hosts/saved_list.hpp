// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/probe.hpp"

namespace podrun {

/// The podips.txt in which discover() finds `all` (of a Discovery on this machine) with the same ranks: the
/// other hosts where this machine is rank 0, as its guide has it; else all of them.
std::string saved_list(const std::vector<Host>& all, const Probe& probe);

}  // namespace podrun
