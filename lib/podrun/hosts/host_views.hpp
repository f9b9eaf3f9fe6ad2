// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/hosts/discovery.hpp"

namespace podrun {

/// For people: a line for each host with its rank, name, address and source. `addresses` are those of its
/// hosts, empty where there is none.
std::string hosts_table(const Discovery& found, const std::vector<std::string>& addresses);

/// For programs: one JSON object, as docs/json.md has it.
std::string hosts_json(const Discovery& found, const std::vector<std::string>& addresses);

}  // namespace podrun
