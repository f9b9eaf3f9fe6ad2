// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/ssh/config/settings.hpp"
#include "podrun/ssh/config/ssh_config_file.hpp"
#include "podrun/ssh/config/ssh_config_selection.hpp"
#include "podrun/ssh/config/ssh_config_world.hpp"

namespace podrun::ssh {

/// The options of the command line about SSH.
struct SshCommandLine {
  std::vector<std::string> options = {};  ///< each `-o`
  std::string user = {};                  ///< empty: not given
  std::uint16_t port = 0;                 ///< 0: not given
  std::vector<std::string> identities = {};
  std::string config_file = {};  ///< `-F`: only this file, or `none`; empty: not given
};

/// The user's ssh_config(5) for all hosts of a run: as `ssh -G HOST`, with podrun's defaults. The first value
/// counts: `-o`, user and port in the host list, other options, the user's file, the system's. The files are
/// read for the first host.
class SshConfig {
 public:
  /// Throws UsageError for a bad option.
  SshConfig(ConfigWorld world, const SshCommandLine& command_line);
  SshConfig(const SshConfig&) = delete;
  SshConfig& operator=(const SshConfig&) = delete;

  /// Throws UsageError for an unreadable file, or settings that cannot reach this host.
  SshSettings settings_for(const hosts::Host& host);
  /// The same for a jump host of hosts already passed to settings_for(). As in ssh the command line is
  /// ignored, except `-o` with a keyword about trust. StrictHostKeyChecking is the strictest of the files,
  /// `-o` and those hosts.
  SshSettings settings_for_jump_host(const hosts::Host& host);
  /// The settings by `-o` alone. Reads no file.
  SshSettings settings_of_options();

  /// Ignored keywords, each once: `~/.ssh/config:12: ForwardAgent`.
  const std::vector<std::string>& ignored() const { return ignored_; }

 private:
  SshSettings apply(const ConfigSelection& selection) const;
  const std::vector<std::shared_ptr<const ConfigFile>>& files();
  bool exec(const std::string& command);
  void ignore(const ConfigStatement& statement);

  ConfigWorld world_;
  ConfigSelection::Hooks hooks_;
  std::vector<ConfigStatement> options_;        ///< `-o`
  std::vector<ConfigStatement> trust_options_;  ///< those that apply to jump hosts
  std::vector<ConfigStatement> others_;         ///< other options of the command line
  ConfigReader reader_;
  std::string config_file_;
  std::vector<std::shared_ptr<const ConfigFile>> files_;
  bool files_are_read_ = false;
  HostKeyCheck strictest_check_ = HostKeyCheck::no;  ///< the strictest that settings_for() found
  std::map<std::string, bool> exec_results_;         ///< results of `Match exec`, by command
  std::vector<std::string> ignored_;
  std::set<std::size_t> ignored_ids_;
};

}  // namespace podrun::ssh
