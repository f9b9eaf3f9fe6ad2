// SPDX-License-Identifier: Apache-2.0
#include "connectors.hpp"

#include "podrun/base/error.hpp"
#include "podrun/local/connectors.hpp"
#include "podrun/local/login_environment.hpp"

#include "ssh_settings.hpp"

extern char** environ;

namespace podrun {
namespace {

/// Enough for slow name servers, and for agents; more would not make these faster.
constexpr std::size_t kBlockingThreads = 8;

std::vector<std::string> own_environment() {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry; ++entry) environment.emplace_back(*entry);
  return environment;
}

ProcessOptions local_child(const Probe& probe, std::size_t descriptor_limit) {
  const Account account = own_account(probe.env("HOME").value_or(""));
  ProcessOptions child{
      .environment = login_environment(account, probe.read_file("/etc/environment").value_or("")),
      .descriptor_limit = descriptor_limit};
  child.directory = home_directory(child.environment);
  return child;
}

/// As ssh does it: by the user's shell, which it replaces.
std::shared_ptr<Stream> run_proxy(const asio::any_io_executor& executor, const std::string& shell,
                                  const std::string& command, std::size_t descriptor_limit) {
  return spawn_process(executor, {.arguments = {shell, "-c", "exec " + command},
                                  .environment = own_environment(),
                                  .role = ProcessRole::way_in,
                                  .descriptor_limit = descriptor_limit});
}

AliveQuestions questions_of(const SshSettings& settings) {
  return {.interval = settings.alive_interval, .count_max = settings.alive_count_max};
}

/// The settings have been found before the run; what still goes wrong now, as with a name service that does
/// not answer any more, is this host's failure.
template <typename Find>
SshSettings or_host_error(Find find) {
  try {
    return find();
  } catch (const UsageError& error) {
    throw HostError({"connecting", error.what(), Retry::may_help});
  }
}

}  // namespace

void check_ways(const Options& options, const std::vector<Host>& hosts) {
  if (options.via.empty()) return;
  const ViaTemplate via(options.via);
  for (const Host& host : hosts) {
    if (host.kind == HostKind::remote) via.words_for(host);
  }
}

HostCount count_ways(const Options& options, const Plan& plan) {
  HostCount count;
  for (const Host& host : plan.run.hosts) {
    const bool by_ssh = host.kind == HostKind::remote && options.via.empty();
    ++(by_ssh ? count.by_ssh : count.by_child);
  }
  count.at_once = plan.run.limits.fanout;
  for (const SshSettings& settings : plan.ssh.settings) {
    if (!settings.agent_socket.empty()) ++count.with_agent;
    if (!settings.proxy_command.empty()) {
      ++count.proxy_commands;
    } else if (!settings.proxy_jump.empty()) {
      ++count.behind_jump_hosts;
    }
  }
  return count;
}

Connectors::Connectors(const std::shared_ptr<asio::io_context>& context, const Options& options,
                       const Plan& plan, SshState& ssh, const Probe& probe, std::size_t descriptor_limit)
    : name_pool_(context, kBlockingThreads),
      resolver_(context->get_executor(), name_pool_),
      agents_(context->get_executor()),
      agent_pool_(context, kBlockingThreads),
      credentials_{ssh.identities, ssh.keys, agents_, agent_pool_,
                   std::chrono::milliseconds(plan.run.limits.connect_timeout) / 2},
      local_(make_local_connector(context->get_executor(), local_child(probe, descriptor_limit))) {
  const asio::any_io_executor executor = context->get_executor();
  if (!options.via.empty()) {
    remote_ = make_via_connector(executor, ViaTemplate(options.via),
                                 {.environment = own_environment(), .descriptor_limit = descriptor_limit},
                                 questions_of(plan.ssh.config->settings_of_options()));
    return;
  }
  remote_ = make_ssh_connector(
      {.executor = executor,
       .resolver = resolver_,
       .host_keys = ssh.host_keys,
       .credentials = credentials_,
       .connect_timeout = plan.run.limits.connect_timeout,
       .orphan_timeout = plan.run.supervision.orphan_timeout,
       .settings_for_jump_host =
           [config = plan.ssh.config](const Host& host) {
             return or_host_error([&] { return config->settings_for_jump_host(host); });
           },
       .run_proxy_command =
           [executor, shell = user_shell(probe), descriptor_limit](const std::string& command) {
             return run_proxy(executor, shell, command, descriptor_limit);
           }},
      [config = plan.ssh.config](const Host& host) {
        return or_host_error([&] { return config->settings_for(host); });
      });
}

}  // namespace podrun
