// SPDX-License-Identifier: Apache-2.0
#include "podrun/reach/reach_plan.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "podrun/local/connectors.hpp"
#include "podrun/local/login_environment.hpp"
#include "podrun/local/spawn.hpp"
#include "podrun/ssh/config/proxy_jump.hpp"
#include "podrun/ssh/config/ssh_config_world.hpp"

namespace podrun::reach {
namespace {

/// Throws UsageError when `--via` cannot lead to one of the hosts.
void check_via(const std::string& via, const std::vector<hosts::Host>& hosts) {
  const local::ViaTemplate words(via);
  for (const hosts::Host& host : hosts) {
    if (host.kind == hosts::HostKind::remote) words.words_for(host);
  }
}

}  // namespace

std::string user_shell(const hosts::Probe& probe) {
  const std::string shell = probe.env("SHELL").value_or("");
  return shell.empty() ? "/bin/sh" : shell;
}

ReachPlan plan_reach(const ssh::SshCommandLine& command_line, const hosts::Probe& probe) {
  const local::Account account = local::own_account(probe.env("HOME").value_or(""));
  ssh::ConfigWorld world = ssh::system_config_world(account.home, account.name);
  world.env = [&probe](const std::string& name) { return probe.env(name); };
  world.run = [shell = user_shell(probe)](const std::string& command) {
    return local::run_shell_command(shell, command);
  };
  return {.home = account.home, .config = std::make_shared<ssh::SshConfig>(std::move(world), command_line)};
}

void find_settings(ReachPlan& plan, const std::vector<hosts::Host>& hosts, run::Limits& limits) {
  if (!plan.via.empty()) {
    check_via(plan.via, hosts);
    return;
  }
  auto found = std::make_shared<HostSettings>();
  std::set<std::string> ways;
  std::chrono::seconds connect_timeout{0};
  std::size_t retries = 0;
  for (const hosts::Host& host : hosts) {
    if (host.kind == hosts::HostKind::local) continue;
    const ssh::SshSettings& settings =
        found->by_worker.try_emplace(host.worker, plan.config->settings_for(host)).first->second;
    connect_timeout = std::max(connect_timeout, settings.connect_timeout.value_or(limits.connect_timeout));
    const auto attempts = settings.connection_attempts;
    retries = std::max(retries, attempts ? std::size_t{*attempts} - 1 : limits.retries);
    ways.insert(settings.proxy_jump);
  }
  if (found->by_worker.empty()) return;
  limits.connect_timeout = connect_timeout;
  limits.retries = retries;
  const auto settings_for = [&](const hosts::Host& host) {
    return plan.config->settings_for_jump_host(host);
  };
  for (const std::string& way : ways) {
    for (ssh::SshSettings& settings : ssh::all_jump_hosts(way, settings_for))
      found->of_jump_hosts.push_back(std::move(settings));
  }
  plan.settings = std::move(found);
}

}  // namespace podrun::reach
