// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cli/podrun_command.hpp"

namespace podrun::commands {

/// `podrun pull`: copies files from every host that can be reached to DEST/<worker>-<host>/. Status 1 when a
/// part did not come, 255 when a host could not be reached or was lost.
std::unique_ptr<cli::Command> make_pull_command();

}  // namespace podrun::commands
