// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/top/top_pod.hpp"

namespace podrun::top {

/// Why this host is odd now: faults, then warnings, then what differs from equal hosts. Without times. Pure.
std::vector<Odd> find_oddities(const Pod& pod, std::size_t host, TimePoint now);

/// How a host that does not answer is described: `lost 25 s ago; attempt 3 in 8 s`.
std::string describe_trouble(const HostRow& row, TimePoint now);

}  // namespace podrun::top
