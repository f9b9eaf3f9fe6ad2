// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "podrun/hosts/probe.hpp"
#include "podrun/output/status_line.hpp"

#include "cli/options.hpp"
#include "commands/mode.hpp"
#include "commands/plan.hpp"

namespace podrun::commands {

/// The mode of a run of the user's own command: its output as the options want it, the final report, the
/// largest of the hosts' statuses. The arguments must outlive it.
std::unique_ptr<Mode> make_command_mode(const Plan& plan, const cli::Options& options,
                                        const hosts::Probe& probe, output::Charset charset);

}  // namespace podrun::commands
