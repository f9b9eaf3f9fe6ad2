// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/hosts/probe.hpp"
#include "podrun/session/specs.hpp"
#include "podrun/supervisor/command.hpp"

// The environment of a podrun that is itself the command of a `local` host: `podrun -H local start train --
// podrun …`. A login on this machine lacks it, and podrun would find other hosts.
namespace podrun::cli {

/// True if `local` is the only host.
bool is_only_here(const session::SessionSpec& session);

/// The variables of this shell that podrun reads: hosts, directories, the agent. Relative paths are made
/// absolute. --dry-run does not show the values.
std::vector<supervisor::Variable> variables_of_podrun(const hosts::Probe& probe);

/// The path of this program, and its directory; empty: not known.
std::string own_program();
std::string own_directory();
/// sh text that puts the directory at the end of PATH.
std::string append_to_path(const std::string& directory);

}  // namespace podrun::cli
