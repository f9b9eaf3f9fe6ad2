// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/output/last_lines.hpp"
#include "podrun/output/status_line.hpp"
#include "podrun/run/run_policy.hpp"

#include "options.hpp"
#include "plan.hpp"

namespace podrun {

/// Whether what the hosts wait for is an answer of the user, and an answer would make the run possible.
bool waits_for_answer(const Limits& limits, const RunPolicy& policy);

/// What is said at the end, each a line without a newline: how it went, why, and how to go on. None when
/// everything went well.
std::vector<std::string> conclude(const Plan& plan, const RunPolicy& policy, const Options& options,
                                  const LastLines& last_lines, Charset charset);

}  // namespace podrun
