// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/ssh/config/settings.hpp"
#include "podrun/ssh/config/ssh_config_file.hpp"
#include "podrun/ssh/config/ssh_config_tokens.hpp"
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

/// Finds the statements of ssh_config(5) that apply to one host: the first of each keyword, except for key
/// files, which add up. add() throws UsageError.
class ConfigSelection {
 public:
  struct Hooks {
    std::function<bool(const std::string& command)> exec;  ///< runs a `Match exec`: whether it succeeds
    std::function<void(const ConfigStatement& statement)> ignored;
  };

  /// All arguments and all added statements must outlive it. `name`: the host's name as given by the user.
  ConfigSelection(const ConfigWorld& world, const Hooks& hooks, std::string name)
      : world_(world), hooks_(hooks), name_(std::move(name)) {}

  void add(const std::vector<ConfigStatement>& statements) {
    for (const ConfigStatement& statement : statements) add(statement);
  }
  /// Call last. Reads the files twice if a `Match final` asks for it.
  void add(const std::vector<std::shared_ptr<const ConfigFile>>& files);

  const std::vector<const ConfigStatement*>& statements() const { return taken_; }
  TokenHost tokens() const;

 private:
  enum class Active { no, yes, never };  ///< never: nor are statements below it in an included file

  void add(const ConfigStatement& statement);
  void check_is_canonical(bool behind_proxies_too) const;
  const std::string* value(std::string_view keyword) const;
  std::string host_name() const;
  TokenHost tokens_so_far() const;
  void walk(const ConfigFile& file, Active outer);
  Active state(const ConfigBlock& block, Active outer);
  bool holds(const MatchCriteria& match) const;
  bool counts(const ConfigStatement& statement);
  bool is_there(const ConfigStatement& statement) const;
  void check_unknown(const ConfigStatement& statement) const;

  const ConfigWorld& world_;
  const Hooks& hooks_;
  const std::string name_;
  std::string final_host_name_;                               ///< empty: in the first pass
  std::array<const ConfigStatement*, kMaxKeywords> first_{};  ///< by keyword
  std::vector<const ConfigStatement*> taken_;
  bool wants_final_pass_ = false;
  bool is_final_pass_ = false;
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
  SshSettings settings_with(const hosts::Host& host, const std::string& host_list,
                            const std::vector<ConfigStatement>& options,
                            const std::vector<ConfigStatement>& others);
  SshSettings apply(const ConfigSelection& selection) const;
  const std::vector<std::shared_ptr<const ConfigFile>>& files();
  bool exec(const std::string& command);
  void ignore(const ConfigStatement& statement);

  ConfigWorld world_;
  ConfigSelection::Hooks hooks_;
  std::vector<ConfigStatement> options_;        ///< `-o`
  std::vector<ConfigStatement> trust_options_;  ///< options that also apply to jump hosts
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
