// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "podrun/hosts/probe.hpp"
#include "podrun/output/terminal.hpp"
#include "podrun/session/specs.hpp"

#include "cli/options.hpp"

// A run that this machine keeps (podrun start NAME --restarts): podrun itself, as a job of `local`. Its words
// are in a file, since other users see the arguments of a process, and a value of -e may be secret.
namespace podrun::cli {

/// The words of a kept run, and the directory of its job.
struct KeptRun {
  std::vector<std::string> words;
  std::string directory;
};
/// Null: these arguments are not those of such a run. Throws UsageError if its file cannot be read.
std::optional<KeptRun> read_kept_run(const std::vector<std::string>& arguments, const hosts::Probe& probe);

/// The session of this machine alone, where the jobs are that it keeps.
session::SessionSpec keeper_session(const Options& options, const hosts::Probe& probe,
                                    const std::shared_ptr<output::Terminal>& terminal);

/// podrun, in this directory and with the variables of this shell, as the command of keeper_session().
/// `words`: its command line. Throws UsageError if podrun does not know its own path.
session::RunSpec keeper_run(const hosts::Probe& probe, const session::SessionSpec& here,
                            const std::vector<std::string>& words);

/// Notes for podrun ps how often the command of this kept run has begun. A failure is ignored.
void note_tries(const std::string& directory, std::size_t tries);

/// Warnings for a user whose run goes on without this terminal: the agent may end, this machine may sleep.
std::vector<std::string> keeper_notes(const hosts::Probe& probe);

}  // namespace podrun::cli
