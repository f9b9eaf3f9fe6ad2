// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/probe.hpp"
#include "podrun/run/run_policy.hpp"
#include "podrun/ssh/config/settings.hpp"
#include "podrun/ssh/config/ssh_config.hpp"

#include "cli/options.hpp"

namespace podrun::commands {

/// How the hosts are reached over SSH.
struct SshPlan {
  std::string home;  ///< of the user: where keys and known hosts are
  std::shared_ptr<ssh::SshConfig> config;
  std::vector<ssh::SshSettings> settings = {};  ///< of every host that SSH leads to, jump hosts among them
};

/// What runs a ProxyCommand and Match exec, as in ssh.
std::string user_shell(const hosts::Probe& probe);

/// What the command line and ssh_config(5) say of it; asks `probe` for as long as it lives. Throws
/// UsageError.
SshPlan ssh_plan(const cli::Options& options, const hosts::Probe& probe);

/// Finds the settings of these hosts and of the jump hosts on the way to them; the configured times are
/// limits where the command line gives none. Throws UsageError.
void find_settings(SshPlan& plan, const std::vector<hosts::Host>& hosts, const cli::Options& options,
                   run::Limits& limits);

}  // namespace podrun::commands
