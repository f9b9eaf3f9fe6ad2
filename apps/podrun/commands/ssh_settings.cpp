// SPDX-License-Identifier: Apache-2.0
#include "commands/ssh_settings.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "podrun/local/login_environment.hpp"
#include "podrun/local/shell_command.hpp"
#include "podrun/ssh/config/proxy_jump.hpp"
#include "podrun/ssh/config/ssh_config_world.hpp"

namespace podrun::commands {

std::string user_shell(const hosts::Probe& probe) {
  const std::string shell = probe.env("SHELL").value_or("");
  return shell.empty() ? "/bin/sh" : shell;
}

SshPlan ssh_plan(const cli::Options& options, const hosts::Probe& probe) {
  const local::Account account = local::own_account(probe.env("HOME").value_or(""));
  ssh::ConfigWorld world = ssh::system_config_world(account.home, account.name);
  world.env = [&probe](const std::string& name) { return probe.env(name); };
  world.run = [shell = user_shell(probe)](const std::string& command) {
    return local::run_shell_command(shell, command);
  };
  const cli::SshOptions& ssh = options.ssh;
  return {.home = account.home,
          .config = std::make_shared<ssh::SshConfig>(
              std::move(world),
              ssh::SshCommandLine{ssh.keywords, ssh.user, ssh.port, ssh.identities, ssh.config_file})};
}

void find_settings(SshPlan& plan, const std::vector<hosts::Host>& hosts, const cli::Options& options,
                   run::Limits& limits) {
  std::set<std::string> ways;
  std::chrono::seconds connect_timeout{0};
  std::size_t retries = 0;
  for (const hosts::Host& host : hosts) {
    if (host.kind == hosts::HostKind::local) continue;
    const ssh::SshSettings& settings = plan.settings.emplace_back(plan.config->settings_for(host));
    connect_timeout = std::max(connect_timeout, settings.connect_timeout.value_or(limits.connect_timeout));
    const auto attempts = settings.connection_attempts;
    retries = std::max(retries, attempts ? std::size_t{*attempts} - 1 : limits.retries);
    ways.insert(settings.proxy_jump);
  }
  if (plan.settings.empty()) return;
  if (!options.connect_timeout_given) limits.connect_timeout = connect_timeout;
  if (!options.retries_given) limits.retries = retries;
  const auto settings_for = [&](const hosts::Host& host) {
    return plan.config->settings_for_jump_host(host);
  };
  for (const std::string& way : ways) {
    for (ssh::SshSettings& settings : ssh::all_jump_hosts(way, settings_for))
      plan.settings.push_back(std::move(settings));
  }
}

}  // namespace podrun::commands
