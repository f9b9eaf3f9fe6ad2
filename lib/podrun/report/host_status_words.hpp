// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "podrun/run/status.hpp"

// The words for one host in the status line and in the list that Enter prints. Pure.
namespace podrun::report {

/// The most hosts that get names besides numbers: in the status line, and in a line of the list.
inline constexpr std::size_t kNamed = 8;

/// How long the host has been as it is.
std::chrono::seconds age(const run::HostStatus& host, run::TimePoint now);
/// `94 s`, `12 min`
std::string format_age(std::chrono::seconds age);
/// `attempt 2 of 3`
std::string describe_attempt(const run::Status& status, std::size_t attempt);
/// `[7] tpu-7`
std::string label_and_name(const run::HostStatus& host);

}  // namespace podrun::report
