// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "podrun/kill/kill_report.hpp"
#include "podrun/report/status_line_words.hpp"
#include "podrun/run/status.hpp"

namespace podrun::kill {

/// The words while hosts run stop_holders.sh, with this grace period: `waiting for pid 2032 (python3) on [13]
/// to close /dev/accel0 · KILL in 21 s`. `listed`: of each host of the status. Nothing before every host has
/// started, and when no host has a process to wait for. Pure; text of hosts is escaped.
std::optional<report::OwnWords> describe_wait(const std::vector<ListedHost>& listed,
                                              std::chrono::seconds grace, const run::Status& status,
                                              run::TimePoint now, std::string_view separator);

}  // namespace podrun::kill
