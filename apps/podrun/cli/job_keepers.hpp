// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/jobs/job_report.hpp"

#include "cli/podrun_command.hpp"

namespace podrun::cli {

/// The jobs of a command, by who keeps them: this machine (for other hosts), or the hosts that are chosen. A
/// name that this machine keeps is always its.
struct JobsByKeeper {
  std::vector<jobs::Job> kept = {};        ///< by this machine, of these names; of all, if none is given
  std::vector<std::string> here = {};      ///< names among `kept`
  std::vector<std::string> on_hosts = {};  ///< the other names
};

/// Asks this machine, unless it alone was chosen (`-H local`).
JobsByKeeper find_keepers(const Context& context, const std::vector<std::string>& names);

}  // namespace podrun::cli
