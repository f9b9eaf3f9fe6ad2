// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace podrun::local {

/// Runs `SHELL -c COMMAND` without input, drops its standard output, and waits for its end, perhaps forever.
/// Its exit status; nothing if it could not start or a signal ended it.
std::optional<int> run_shell_command(const std::string& shell, const std::string& command);

}  // namespace podrun::local
