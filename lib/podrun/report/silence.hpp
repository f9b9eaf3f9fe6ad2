// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

// Which hosts are silent although the others print. Pure.
namespace podrun::report {

using Silence = std::chrono::steady_clock::duration;

/// Whether a host is silent for long, and for much longer than half of the others (`usual`).
bool is_slow(Silence silence, Silence usual);

/// The places of those that have printed nothing, or were slow at their end; empty if that is true of all.
/// `silences`: none for a host that has printed nothing.
std::vector<std::size_t> silent_ones(const std::vector<std::optional<Silence>>& silences);

}  // namespace podrun::report
