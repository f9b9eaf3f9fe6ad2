// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace podrun {

/// Who may have written a file: `checked` refuses what another user owns or may write to.
enum class FileTrust { unchecked, checked };

/// What ssh_config(5) asks of this machine and its user.
struct ConfigWorld {
  std::string home;  ///< of the user; `~` and %d
  std::string user;
  std::string user_id;
  std::string host_name;  ///< of this machine
  std::function<std::optional<std::string>(const std::string& name)> env;
  std::function<std::optional<std::string>(const std::string& user)> home_of;
  /// Nothing when there is no such file; a directory is empty. Throws UsageError.
  std::function<std::optional<std::string>(const std::string& path, FileTrust trust)> read;
  /// Sorted, as glob(7). Throws UsageError.
  std::function<std::vector<std::string>(const std::string& pattern)> glob;
  /// `Match exec`: runs it by the user's shell; its exit status, or nothing when it has none.
  std::function<std::optional<int>(const std::string& command)> run;
};

/// The real one, without `env` and `run`.
ConfigWorld system_config_world(std::string home, std::string user);

}  // namespace podrun
