// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "podrun/output/last_lines.hpp"
#include "podrun/output/status_line.hpp"
#include "podrun/run/run_policy.hpp"
#include "podrun/session/specs.hpp"

namespace podrun::session {

/// Ended by the signals of an interrupt: no failure that needs a reason.
bool was_interrupted(const run::HostOutcome& outcome, const run::RunPolicy& policy);

/// True if only questions to the user keep the run from starting, and answers would make it possible.
bool waits_for_answer(const run::Limits& limits, const run::RunPolicy& policy);

/// The final report: how the run went, why, and how to continue. Lines without a newline; empty when all went
/// well. `called`: see SessionSpec.
std::vector<std::string> final_report(const RunSpec& run, const run::RunPolicy& policy,
                                      const output::LastLines& last_lines, output::Charset charset,
                                      std::string_view called);

}  // namespace podrun::session
