// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cli/podrun_command.hpp"

namespace podrun::commands {

/// `podrun hosts`: one line for each host with its worker number, name, address and source, or JSON.
/// --save also writes podips.txt. --forget-keys removes the stored host keys instead and prints how many.
std::unique_ptr<cli::Command> make_hosts_command();

}  // namespace podrun::commands
