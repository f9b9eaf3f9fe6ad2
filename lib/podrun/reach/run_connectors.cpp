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

/// The settings have been found before the run; what still goes wrong now, as with a name service that does
/// not answer any more, is this host's failure.
template <typename Find>
ssh::SshSettings or_host_error(Find find) {
  try {
    return find();
  } catch (const UsageError& error) {
    throw link::HostError(
        {link::Stage::connecting, link::Cause::configuration, error.what(), link::Retry::may_help});
  }
}

}  // namespace

local::HostCount count_hosts(const ReachPlan& plan, const run::RunPlan& run) {
  local::HostCount count;
  for (const hosts::Host& host : run.hosts) {
    const bool by_ssh = host.kind == hosts::HostKind::remote && plan.via.empty();
    ++(by_ssh ? count.by_ssh : count.by_child);
  }
  count.at_once = run.limits.fanout;
  for (const ssh::SshSettings& settings : plan.settings) {
    if (!settings.agent_socket.empty()) ++count.with_agent;
    if (!settings.proxy_command.empty()) {
      ++count.proxy_commands;
    } else if (!settings.proxy_jump.empty()) {
      ++count.behind_jump_hosts;
    }
  }
  return count;
}

Connectors::Connectors(const std::shared_ptr<asio::io_context>& context, const ReachPlan& plan,
                       const run::RunPlan& run, SshState& ssh, const hosts::Probe& probe,
                       std::size_t descriptor_limit, local::TransportCommands& transports)
    : name_pool_(context, kBlockingThreads),
      resolver_(context->get_executor(), name_pool_),
      agents_(context->get_executor()),
      agent_pool_(context, kBlockingThreads),
      credentials_{ssh.identities, ssh.memory, agents_, agent_pool_,
                   std::chrono::milliseconds(run.limits.connect_timeout) / 2},
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
       .connect_timeout = run.limits.connect_timeout,
       .orphan_timeout = run.supervision.orphan_timeout,
       .settings_for_jump_host =
           [config = plan.config](const hosts::Host& host) {
             return or_host_error([&] { return config->settings_for_jump_host(host); });
           },
       .run_proxy_command =
           [executor, shell = user_shell(probe), descriptor_limit, &transports](const std::string& command) {
             return run_proxy(executor, shell, command, descriptor_limit, transports);
           }},
      [config = plan.config](const hosts::Host& host) {
        return or_host_error([&] { return config->settings_for(host); });
      });
}

}  // namespace podrun::reach
