// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/probe.hpp"

namespace podrun::hosts {

/// The podips.txt that makes discover() find `all` (of a Discovery on this machine) with the same worker
/// numbers. As the podips.txt guide says, it has only the other hosts if this machine is worker 0; else all
/// hosts.
std::string saved_list(const std::vector<Host>& all, const Probe& probe);

}  // namespace podrun::hosts
