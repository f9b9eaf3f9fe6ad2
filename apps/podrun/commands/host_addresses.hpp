// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace podrun::commands {

/// The first address of each of `names`, which are looked up together; empty where there is none `within`
/// this time. An empty name has none.
std::vector<std::string> addresses_of(const std::vector<std::string>& names,
                                      std::chrono::milliseconds within);

}  // namespace podrun::commands
