// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "podrun/hosts/probe.hpp"
#include "podrun/remote/command.hpp"
#include "podrun/run/fan_out.hpp"

#include "options.hpp"
#include "ssh_settings.hpp"

namespace podrun {

/// All that is known before anything is started.
struct Plan {
  Command command;
  SshPlan ssh;
  RunPlan run;
};

/// Finds the hosts and reads what the command is made of: files, standard input, variables. Throws
/// UsageError.
Plan make_plan(const Options& options, const Probe& probe);

/// For --dry-run: which hosts, and the exact text. Values that are not on the command line are not shown.
std::string describe_plan(const Plan& plan);

}  // namespace podrun
