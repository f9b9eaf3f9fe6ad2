// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "podrun/hosts/probe.hpp"

#include "options.hpp"
#include "plan.hpp"
#include "purpose.hpp"

namespace podrun {

/// To run the user's command: its output as the options want it, the summary, the largest of the hosts'
/// numbers. What it is given must outlive it.
std::unique_ptr<Purpose> make_command_purpose(const Plan& plan, const Options& options, const Probe& probe,
                                              Charset charset);

}  // namespace podrun
