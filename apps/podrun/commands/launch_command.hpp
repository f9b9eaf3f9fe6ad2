// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cli/podrun_command.hpp"

namespace podrun::commands {

/// `podrun launch TASK.yaml`: copies workdir and file_mounts, then runs setup, then run, each on all hosts.
/// The status of the first of these steps that fails; the later ones are not started.
std::unique_ptr<cli::Command> make_launch_command();

/// `podrun exec TASK.yaml`: copies workdir, then runs run.
std::unique_ptr<cli::Command> make_exec_command();

}  // namespace podrun::commands
