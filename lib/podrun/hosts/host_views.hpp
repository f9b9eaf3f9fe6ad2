// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/hosts/discovery.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/hosts/probe.hpp"

namespace podrun::hosts {

/// For people: a line for each host with its worker number, name, address and source. `addresses`: for each
/// found host; empty if unknown.
std::string hosts_table(const Discovery& found, const std::vector<std::string>& addresses);

/// For programs: one JSON object, described in docs/json.md.
std::string hosts_json(const Discovery& found, const std::vector<std::string>& addresses);

/// The podips.txt that makes discover() find `all` (of a Discovery on this machine) with their worker
/// numbers. As the podips.txt guide says, it has only the other hosts if this machine is worker 0; else all
/// hosts.
std::string saved_list(const std::vector<Host>& all, const Probe& probe);

}  // namespace podrun::hosts
