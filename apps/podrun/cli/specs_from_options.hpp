// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "podrun/hosts/probe.hpp"
#include "podrun/output/terminal.hpp"
#include "podrun/session/specs.hpp"
#include "podrun/supervisor/command.hpp"
#include "podrun/transfer/push.hpp"

#include "cli/options.hpp"

// Turns options into the specs of a session and of a run.
namespace podrun::cli {

/// Finds the hosts and how they are reached. Throws UsageError.
session::SessionSpec session_spec(const Options& options, const hosts::Probe& probe,
                                  const std::shared_ptr<output::Terminal>& terminal);

/// Reads what the user's command is made of: words, files, standard input, variables. Throws UsageError.
supervisor::Command read_command(const Options& options, const hosts::Probe& probe);

/// A command of the user on all hosts of the session. On `local` it has what podrun itself reads from its
/// environment (podrun_inside.hpp).
session::RunSpec users_command(const hosts::Probe& probe, const session::SessionSpec& session,
                               supervisor::Command command);

/// The user's command on all hosts of the session, with everything that the options say of it. Throws
/// UsageError.
session::RunSpec users_run(const Options& options, const hosts::Probe& probe,
                           const session::SessionSpec& session, supervisor::Command command);

/// The environment and the shell of a command that is set later. Throws UsageError.
supervisor::Command command_in_surroundings(const Options& options, const hosts::Probe& probe);

/// The name of this directory that its user goes by ($PWD, if it is still right): links and mounts are named
/// alike on hosts that share it.
std::string current_directory(const hosts::Probe& probe);

/// The directory on the hosts that --cwd or --chdir names; empty: neither. Throws UsageError.
std::string directory_of(const Options& options, const hosts::Probe& probe);

/// The variables of -e, --env-file and the configuration; a later one wins. Throws UsageError.
std::vector<supervisor::Variable> make_environment(const Options& options, const hosts::Probe& probe);

/// How to run again on just these workers: a command line for a shell. If that line could not repeat the run,
/// or would show values that may be secret: text that names the options to add to the same command.
std::string repeat_command(const Options& options, const std::string& workers);

/// Whether hosts hand files on to each other. That is impossible for root, whose programs open no port, and
/// behind --via, where hosts have no addresses.
transfer::Spreading spreading(const Options& options);

/// How the output is shown and stored.
session::View view(const Options& options);

/// For --dry-run: which hosts, and the exact text. Values that are not on the command line are not shown.
std::string describe_run(const session::RunSpec& run);

/// describe_run() without the command itself.
std::string describe_surroundings(const session::RunSpec& run);

}  // namespace podrun::cli
