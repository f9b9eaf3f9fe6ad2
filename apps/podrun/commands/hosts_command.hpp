// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cli/podrun_command.hpp"

namespace podrun::commands {

/// `podrun hosts`: one line for each host with its rank, name, address and source, or JSON; with --save
/// writes podips.txt; with --forget-keys removes their stored host keys instead, and says how many.
std::unique_ptr<cli::Command> make_hosts_command();

}  // namespace podrun::commands
