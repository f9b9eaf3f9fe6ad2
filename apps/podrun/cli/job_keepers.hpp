// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
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
  std::optional<int> interrupted = {};  ///< the exit status where a signal came: then nothing is to be done
};

/// Asks this machine, unless it alone was chosen (`-H local`).
JobsByKeeper find_keepers(const Context& context, const std::vector<std::string>& names);

enum class EndedName { is_free, is_taken };
/// Says so if this machine keeps a job of this name. The exit status then, or where a signal came; none: it
/// does not. `ended`: whether a job that has ended keeps its name.
std::optional<int> say_if_kept(const Context& context, const std::string& name, EndedName ended);

}  // namespace podrun::cli
