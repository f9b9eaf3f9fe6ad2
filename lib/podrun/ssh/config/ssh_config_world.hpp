// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace podrun::ssh {

/// `checked` refuses a file that another user owns or may write.
enum class FileTrust { unchecked, checked };

/// Everything that ssh_config(5) needs from this machine and its user.
struct ConfigWorld {
  std::string home;  ///< the user's; `~` and %d
  std::string user;
  std::string user_id;
  std::string host_name;  ///< this machine's
  std::function<std::optional<std::string>(const std::string& name)> env;
  std::function<std::optional<std::string>(const std::string& user)> home_of;
  /// None if there is no such file; a directory reads as empty. Throws UsageError.
  std::function<std::optional<std::string>(const std::string& path, FileTrust trust)> read;
  /// The matching paths, sorted as in glob(7). Throws UsageError.
  std::function<std::vector<std::string>(const std::string& pattern)> glob;
  /// Runs the command of `Match exec` in the user's shell. Returns its exit status, if it has one.
  std::function<std::optional<int>(const std::string& command)> run;
  /// This machine's own addresses and names.
  std::function<std::vector<std::string>()> own_names;
};

/// The real machine, without `env`, `run` and `own_names`.
ConfigWorld system_config_world(std::string home, std::string user);

}  // namespace podrun::ssh
