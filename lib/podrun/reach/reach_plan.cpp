// SPDX-License-Identifier: Apache-2.0
#include "podrun/reach/reach_plan.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
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

/// Names that only ssh_config(5) can lead to a host, such as `prod/a`, would be asked of a name server.
void refuse_odd_name(const hosts::Host& host, const ssh::SshSettings& settings) {
  constexpr std::string_view kOdd = "/+%";
  const bool is_odd = std::any_of(settings.host_name.begin(), settings.host_name.end(), [kOdd](char c) {
    return kOdd.find(c) != kOdd.npos || static_cast<unsigned char>(c) > 0x7F;
  });
  if (!is_odd || settings.host_name.find(':') != std::string::npos || !settings.proxy_command.empty()) return;
  throw UsageError(
      fmt::format("{}: bad host {:?} (expected a name of letters, digits and \"._-\", or an address; "
                  "others need a HostName or ProxyCommand in ssh_config, or --via)",
                  host.source, settings.host_name));
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
  world.own_names = [&probe] { return probe.own_names(); };
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
    refuse_odd_name(host, settings);
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
