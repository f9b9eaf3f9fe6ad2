// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "podrun/run/outcome.hpp"

#include "cli/podrun_command.hpp"
#include "commands/plan.hpp"
#include "commands/run_sequence.hpp"

namespace podrun::commands {

/// The answers of the hosts to one run.
struct Look {
  std::vector<std::string> replies = {};     ///< of each host of the run, its standard output up to 256 KiB
  std::vector<std::string> complaints = {};  ///< the same of standard error
  std::vector<run::HostOutcome> outcomes = {};
  int status = 0;  ///< of the run
  bool is_interrupted = false;
};

/// The plan of a run that asks every host that can be reached, with sh text and files as for make_plan().
/// `time`: what the hosts may take; there is nothing to save there, so that a second Ctrl-C need not wait.
Plan make_look_plan(const cli::Options& options, const hosts::Probe& probe, remote::RemoteCommand command,
                    std::chrono::seconds time);

/// Makes the run, and names the hosts that could not be asked.
Look look(RunSequence& runs, const Plan& plan, const cli::Context& context);

}  // namespace podrun::commands
