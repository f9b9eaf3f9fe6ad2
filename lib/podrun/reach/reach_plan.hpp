// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/probe.hpp"
#include "podrun/run/run_policy.hpp"
#include "podrun/ssh/config/settings.hpp"
#include "podrun/ssh/config/ssh_config.hpp"

namespace podrun::reach {

/// What ssh_config(5) says of the hosts that SSH leads to.
struct HostSettings {
  std::map<std::size_t, ssh::SshSettings> by_worker = {};  ///< by worker number
  std::vector<ssh::SshSettings> of_jump_hosts = {};
};

/// How the hosts of a run are reached. This machine itself needs none of it.
struct ReachPlan {
  std::string via = {};   ///< the command that opens a shell, see local::ViaTemplate; empty: SSH
  std::string home = {};  ///< of the user: where keys and known hosts are
  std::shared_ptr<ssh::SshConfig> config = {};
  std::shared_ptr<const HostSettings> settings = std::make_shared<HostSettings>();
};

/// Runs a ProxyCommand and Match exec, as in ssh.
std::string user_shell(const hosts::Probe& probe);

/// The plan with the user's ssh_config(5), whose files are read for the first host. `probe` must outlive it.
ReachPlan plan_reach(const ssh::SshCommandLine& command_line, const hosts::Probe& probe);

/// Finds the settings of these hosts and of the jump hosts that lead to them, and refuses a host that `via`
/// cannot reach. Times that ssh_config(5) gives replace those of `limits`. Throws UsageError.
void find_settings(ReachPlan& plan, const std::vector<hosts::Host>& hosts, run::Limits& limits);

}  // namespace podrun::reach
