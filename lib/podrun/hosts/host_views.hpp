// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/hosts/discovery.hpp"

namespace podrun::hosts {

/// For people: a line for each host with its worker number, name, address and source. `addresses` belong to
/// the found hosts in order; an empty one is unknown.
std::string hosts_table(const Discovery& found, const std::vector<std::string>& addresses);

/// For programs: one JSON object, described in docs/json.md.
std::string hosts_json(const Discovery& found, const std::vector<std::string>& addresses);

}  // namespace podrun::hosts
