// SPDX-License-Identifier: Apache-2.0
#include "hosts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "podrun/hosts/discovery.hpp"
#include "podrun/ssh/host_keys.hpp"
#include "podrun/ssh/known_hosts_store.hpp"

#include "ssh_settings.hpp"

namespace podrun {
namespace {

/// `user@name:port`, as in a list of hosts.
std::string address(const Host& host) {
  const bool is_ipv6 = host.name.find(':') != std::string::npos;
  std::string text = host.user.empty() ? "" : host.user + "@";
  text += is_ipv6 && host.port != 0 ? fmt::format("[{}]", host.name) : host.name;
  return host.port == 0 ? text : fmt::format("{}:{}", text, host.port);
}

std::string table(const std::vector<Host>& hosts) {
  std::size_t width = 0;
  for (const Host& host : hosts) width = std::max(width, address(host).size());
  std::string text;
  for (const Host& host : hosts) {
    text += fmt::format("{:>{}}  {:<{}}  {}\n", host.label, std::to_string(hosts.back().label).size(),
                        address(host), width, host.source);
  }
  return text;
}

std::string forget(const std::vector<Host>& hosts, const SshSettings& common) {
  std::vector<std::pair<std::string, std::uint16_t>> names;
  for (const Host& host : hosts) {
    if (host.kind == HostKind::local) continue;
    const SshSettings settings = settings_for(common, host);
    const HostKeyTarget target = host_key_target(settings, settings.host_name);
    names.emplace_back(target.host, target.port);
  }
  std::string text;
  for (const std::string& file : common.user_known_hosts) {
    const std::size_t removed = forget_host_keys(file, names);
    if (removed > 0) text += fmt::format("forgot {} key{} in {}\n", removed, removed == 1 ? "" : "s", file);
  }
  return text.empty() ? "no key of these hosts is stored\n" : text;
}

}  // namespace

std::string answer_hosts(const Options& options, const Probe& probe) {
  const std::vector<Host> hosts = discover(options.hosts, probe);
  return options.forget_keys ? forget(hosts, ssh_plan(options, probe).settings) : table(hosts);
}

}  // namespace podrun
