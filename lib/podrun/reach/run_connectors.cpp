// SPDX-License-Identifier: Apache-2.0
// Builds the connectors of a run (SSH, `--via`, `local`) and finds out how many open files they need.
#include "podrun/reach/run_connectors.hpp"

#include "podrun/base/error.hpp"
#include "podrun/local/connectors.hpp"
#include "podrun/local/login_environment.hpp"

extern char** environ;

namespace podrun::reach {
namespace {

/// Enough for slow name servers, and for agents; more would not make these faster.
constexpr std::size_t kBlockingThreads = 8;

std::vector<std::string> own_environment() {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry; ++entry) environment.emplace_back(*entry);
  return environment;
}

local::ProcessOptions local_child(const hosts::Probe& probe, std::size_t descriptor_limit) {
  const local::Account account = local::own_account(probe.env("HOME").value_or(""));
  local::ProcessOptions child{
      .environment = local::login_environment(account, probe.read_file("/etc/environment").value_or("")),
      .descriptor_limit = descriptor_limit};
  child.directory = local::home_directory(child.environment);
  return child;
}

/// As ssh does it: by the user's shell, which it replaces.
std::shared_ptr<link::Stream> run_proxy(const asio::any_io_executor& executor, const std::string& shell,
                                        const std::string& command, std::size_t descriptor_limit,
                                        local::TransportCommands& transports) {
  return local::spawn_process(executor, {.arguments = {shell, "-c", "exec " + command},
                                         .environment = own_environment(),
                                         .transports = &transports,
                                         .descriptor_limit = descriptor_limit});
}

local::AliveQuestions questions_of(const ssh::SshSettings& settings) {
  return {.interval = settings.alive_interval, .count_max = settings.alive_count_max};
}

/// They were found before the run, too; if the name service does not answer any more, that is this host's
/// failure.
ssh::SshSettings settings_of_jump_host(ssh::SshConfig& config, const hosts::Host& host) {
  try {
    return config.settings_for_jump_host(host);
  } catch (const UsageError& error) {
    throw link::HostError(
        {link::Stage::connecting, link::Cause::configuration, error.what(), link::Retry::may_help});
  }
}

}  // namespace

local::HostCount count_hosts(const ReachPlan& plan, const std::vector<hosts::Host>& hosts,
                             std::size_t fanout) {
  local::HostCount count;
  for (const hosts::Host& host : hosts) {
    const bool by_ssh = host.kind == hosts::HostKind::remote && plan.via.empty();
    ++(by_ssh ? count.by_ssh : count.by_child);
  }
  count.at_once = fanout;
  const auto add = [&count](const ssh::SshSettings& settings) {
    if (!settings.agent_socket.empty()) ++count.with_agent;
    if (!settings.proxy_command.empty()) {
      ++count.proxy_commands;
    } else if (!settings.proxy_jump.empty()) {
      ++count.behind_jump_hosts;
    }
  };
  for (const auto& [worker, settings] : plan.settings->by_worker) add(settings);
  for (const ssh::SshSettings& settings : plan.settings->of_jump_hosts) add(settings);
  return count;
}

Connectors::Connectors(const std::shared_ptr<asio::io_context>& context, const ReachPlan& plan,
                       const Times& times, SshState& ssh, const hosts::Probe& probe,
                       std::size_t descriptor_limit, local::TransportCommands& transports)
    : name_pool_(context, kBlockingThreads),
      resolver_(context->get_executor(), name_pool_),
      agents_(context->get_executor()),
      agent_pool_(context, kBlockingThreads),
      credentials_{ssh.identities, ssh.memory, agents_, agent_pool_,
                   std::chrono::milliseconds(times.connect_timeout) / 2},
      local_(local::make_local_connector(context->get_executor(), local_child(probe, descriptor_limit))) {
  const asio::any_io_executor executor = context->get_executor();
  if (!plan.via.empty()) {
    remote_ =
        local::make_via_connector(executor, local::ViaTemplate(plan.via),
                                  {.environment = own_environment(), .descriptor_limit = descriptor_limit},
                                  transports, questions_of(plan.config->settings_of_options()));
    return;
  }
  remote_ = ssh::make_ssh_connector(
      {.executor = executor,
       .resolver = resolver_,
       .host_keys = ssh.host_keys,
       .credentials = credentials_,
       .connect_timeout = times.connect_timeout,
       .orphan_timeout = times.orphan_timeout,
       .settings_for_jump_host =
           [config = plan.config](const hosts::Host& host) { return settings_of_jump_host(*config, host); },
       .run_proxy_command =
           [executor, shell = user_shell(probe), descriptor_limit, &transports](const std::string& command) {
             return run_proxy(executor, shell, command, descriptor_limit, transports);
           }},
      [settings = plan.settings](const hosts::Host& host) { return settings->by_worker.at(host.worker); });
}

}  // namespace podrun::reach
