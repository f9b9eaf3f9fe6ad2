// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "podrun/output/json_sink.hpp"
#include "podrun/top/top_pod.hpp"

// The events of `podrun top --json`, see docs/json.md: one line each, without its newline. Pure.
namespace podrun::top {

/// What a host does. Unknown figures are left out.
std::string sample_event(output::WallTime time, const Pod& pod, std::size_t host, TimePoint now);

/// A host has become `up`, `stale` or `lost`.
std::string state_event(output::WallTime time, const Pod& pod, std::size_t host);

}  // namespace podrun::top
