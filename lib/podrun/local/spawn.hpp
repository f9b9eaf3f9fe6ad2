// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace podrun::local {

struct Child {
  std::vector<std::string> arguments;  ///< the first is found with podrun's PATH
  /// `NAME=VALUE`, the whole environment; none: podrun's.
  std::optional<std::vector<std::string>> environment = {};
  std::string directory = {};  ///< empty: podrun's
  std::array<int, 3> descriptors;
  bool new_session = false;
};

/// podrun's own environment with these variables (`NAME=VALUE`), each in place of one of its name.
std::vector<std::string> environment_with(const std::vector<std::string>& variables);

struct Spawned {
  pid_t pid = 0;
  int error = 0;  ///< an errno value if there is no child
};

/// Starts a program with default signals, which has no other descriptors than these three.
Spawned spawn(const Child& child);

/// Runs `SHELL -c COMMAND` without input, drops its standard output, and waits for its end, perhaps forever.
/// Its exit status; none if it could not start or a signal ended it.
std::optional<int> run_shell_command(const std::string& shell, const std::string& command);

struct CommandOutput {
  enum class Fate { ended, timed_out, too_long };
  Fate fate = Fate::ended;
  std::optional<int> status = std::nullopt;  ///< none: it could not start, or a signal ended it
  std::string output = {};
  std::string error = {};  ///< on standard error
};

/// The same, with what it prints. After `limit`, or `most` bytes, it and what it started in its session are
/// killed.
CommandOutput read_shell_command(const std::string& shell, const std::string& command,
                                 std::chrono::milliseconds limit, std::size_t most);

/// Runs text in /bin/sh with this standard input, and with these variables (`NAME=VALUE`) besides podrun's
/// own. Drops its standard output. After `limit` it and what it started in its session are killed.
CommandOutput run_shell_on_text(const std::string& command, std::string_view input,
                                const std::vector<std::string>& variables, std::chrono::milliseconds limit);

/// Runs a program with this standard input and without an environment, drops its standard output, and waits
/// for its end.
CommandOutput run_on_text(const std::vector<std::string>& arguments, std::string_view input);

}  // namespace podrun::local
