// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace podrun::local {

/// Runs `SHELL -c COMMAND` without input, drops its standard output, and waits for its end, perhaps forever.
/// Its exit status; nothing if it could not start or a signal ended it.
std::optional<int> run_shell_command(const std::string& shell, const std::string& command);

struct CommandOutput {
  enum class Fate { ended, timed_out, too_long };
  Fate fate = Fate::ended;
  std::optional<int> status = std::nullopt;  ///< nothing: it could not start, or a signal ended it
  std::string output = {};
  std::string error = {};  ///< on standard error
};

/// The same, with what it prints. After `limit`, or `most` bytes, it and what it started in its session are
/// killed.
CommandOutput read_shell_command(const std::string& shell, const std::string& command,
                                 std::chrono::milliseconds limit, std::size_t most);

}  // namespace podrun::local
