// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/ssh/config_file.hpp"
#include "podrun/ssh/config_selection.hpp"
#include "podrun/ssh/config_world.hpp"
#include "podrun/ssh/settings.hpp"

namespace podrun {

/// What the command line says of SSH.
struct SshCommandLine {
  std::vector<std::string> options = {};  ///< each `-o`
  std::string user = {};                  ///< empty: not given
  std::uint16_t port = 0;                 ///< 0: not given
  std::vector<std::string> identities = {};
  std::string config_file = {};  ///< `-F`: this file alone, or `none`; empty: not given
};

/// The user's ssh_config(5) for all hosts of a run: what `ssh -G HOST` says, with our defaults. The value
/// found first counts: `-o`, user and port in the list of hosts, the other options, the user's file, the
/// system's. The files are read for the first host.
class SshConfig {
 public:
  /// Throws UsageError for a bad option.
  SshConfig(ConfigWorld world, const SshCommandLine& command_line);
  SshConfig(const SshConfig&) = delete;
  SshConfig& operator=(const SshConfig&) = delete;

  /// Throws UsageError for a file that cannot be read, and for what this host cannot be reached with.
  SshSettings settings_for(const Host& host);
  /// The same for a host on the way to those that settings_for() was called for. The command line does not
  /// count, as in ssh, except for `-o` with a keyword about trust. StrictHostKeyChecking is the strictest of
  /// what the files say of it, of `-o`, and of those hosts.
  SshSettings settings_for_jump_host(const Host& host);
  /// What `-o` says, whatever the host. No file is read.
  SshSettings settings_of_options();

  /// Keywords that change nothing here, each once: `~/.ssh/config:12: ForwardAgent`.
  const std::vector<std::string>& passed_over() const { return passed_over_; }

 private:
  SshSettings apply(const ConfigSelection& selection) const;
  const std::vector<std::shared_ptr<const ConfigFile>>& files();
  bool exec(const std::string& command);
  void pass_over(const ConfigStatement& statement);

  ConfigWorld world_;
  ConfigSelection::Hooks hooks_;
  std::vector<ConfigStatement> options_;        ///< `-o`
  std::vector<ConfigStatement> trust_options_;  ///< those that reach jump hosts
  std::vector<ConfigStatement> others_;         ///< of the command line
  ConfigReader reader_;
  std::string config_file_;
  std::vector<std::shared_ptr<const ConfigFile>> files_;
  bool files_are_read_ = false;
  HostKeyCheck strictest_check_ = HostKeyCheck::no;  ///< that settings_for() found
  std::map<std::string, bool> exec_results_;         ///< of `Match exec`, by command
  std::vector<std::string> passed_over_;
  std::set<std::size_t> passed_over_ids_;
};

}  // namespace podrun
