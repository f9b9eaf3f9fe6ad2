// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cli/podrun_command.hpp"

namespace podrun::commands {

/// `podrun ssh WORKER [ARG...]`: becomes the user's own ssh to one host.
std::unique_ptr<cli::Command> make_ssh_command();

}  // namespace podrun::commands
