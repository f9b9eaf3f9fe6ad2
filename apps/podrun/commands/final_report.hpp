// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/output/last_lines.hpp"
#include "podrun/output/status_line.hpp"
#include "podrun/run/run_policy.hpp"

#include "cli/options.hpp"
#include "commands/plan.hpp"

namespace podrun::commands {

/// Whether what the hosts wait for is an answer of the user, and an answer would make the run possible.
bool waits_for_answer(const run::Limits& limits, const run::RunPolicy& policy);

/// The final report: how the run went, why, and how to continue. Lines without a newline; none when all went
/// well.
std::vector<std::string> final_report(const Plan& plan, const run::RunPolicy& policy,
                                      const cli::Options& options, const output::LastLines& last_lines,
                                      output::Charset charset);

}  // namespace podrun::commands
