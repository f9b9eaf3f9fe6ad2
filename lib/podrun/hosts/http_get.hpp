// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "podrun/hosts/probe.hpp"

namespace podrun::hosts {

/// Implements Probe::http_get() of the system probe.
std::vector<HttpAnswer> http_get(const std::vector<std::string>& urls, std::chrono::milliseconds within);

}  // namespace podrun::hosts
