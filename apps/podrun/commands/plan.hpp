// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "podrun/hosts/probe.hpp"
#include "podrun/reach/reach_plan.hpp"
#include "podrun/remote/command.hpp"
#include "podrun/report/json_events.hpp"
#include "podrun/report/summary.hpp"
#include "podrun/run/run_plan.hpp"

#include "cli/options.hpp"

namespace podrun::commands {

/// All that is known before anything is started.
struct Plan {
  remote::Command command;
  reach::ReachPlan reach;
  run::RunPlan run;
  std::string home = {};                ///< of the user of this machine
  bool input_unsent = false;            ///< standard input has no use in this run
  std::vector<std::string> notes = {};  ///< what the user should know of the hosts
  report::Work work = report::Work::command;
  std::optional<report::FilesToSend> files = std::nullopt;
};

/// Finds the hosts and reads what the command is made of: files, standard input, variables. Throws
/// UsageError.
Plan make_plan(const cli::Options& options, const hosts::Probe& probe);

/// The same for what podrun itself runs there, in the user's surroundings; reads no standard input for it.
Plan make_plan_in_surroundings(const cli::Options& options, const hosts::Probe& probe,
                               remote::Command command);

/// The same for sh text that sets the parameters to what is run, see build_command().
Plan make_plan(const cli::Options& options, const hosts::Probe& probe, remote::RemoteCommand command);

/// The same for a command that is made already: no standard input is read for it, and no variables are added.
Plan make_plan(const cli::Options& options, const hosts::Probe& probe, remote::Command command);

/// The plan with another command, and a run id of its own.
Plan with_command(Plan plan, remote::Command command);

/// The plan for these of its hosts (indexes), with a run id of its own and without its notes.
Plan with_hosts(Plan plan, const std::vector<std::size_t>& indexes);

/// Makes the plan one of podrun's own: for every host that can be reached, whatever a configuration says of
/// commands.
void run_where_reachable(Plan& plan);

/// The variables of -e, --env-file and the configuration; a later one wins. Throws UsageError.
std::vector<remote::Variable> make_environment(const cli::Options& options, const hosts::Probe& probe);

/// For --dry-run: which hosts, and the exact text. Values that are not on the command line are not shown.
std::string describe_plan(const Plan& plan);

/// describe_plan() without the command itself.
std::string describe_surroundings(const Plan& plan);

}  // namespace podrun::commands
