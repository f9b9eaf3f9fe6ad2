// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace podrun {

/// Runs `SHELL -c COMMAND` to its end and waits for it, which may take for ever; it reads nothing, what it
/// prints on standard output is dropped. Its exit status; nothing when a signal has ended it, or without it.
std::optional<int> run_shell_command(const std::string& shell, const std::string& command);

}  // namespace podrun
