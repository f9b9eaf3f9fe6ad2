// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "cli/podrun_command.hpp"

namespace podrun::commands {

/// Every podrun command. A new one is a file beside this and a row here.
std::span<const cli::CommandRow> command_table();

}  // namespace podrun::commands
