// SPDX-License-Identifier: Apache-2.0
#include "hosts.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/hosts/discovery.hpp"
#include "podrun/hosts/host_views.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/ssh/host_keys.hpp"
#include "podrun/ssh/known_hosts_store.hpp"

#include "host_addresses.hpp"
#include "save_hosts.hpp"
#include "ssh_settings.hpp"

namespace podrun {
namespace {

/// For all names together: people wait for it.
constexpr std::chrono::seconds kLookUpTime{2};

std::vector<std::string> addresses(const std::vector<Host>& hosts, SshConfig& config) {
  std::vector<std::string> names;
  for (const Host& host : hosts) {
    names.push_back(host.kind == HostKind::local ? "" : config.settings_for(host).host_name);
  }
  return addresses_of(names, kLookUpTime);
}

std::string forget(const std::vector<Host>& hosts, SshConfig& config) {
  std::vector<std::pair<std::string, std::uint16_t>> names;
  std::set<std::string> files;
  for (const Host& host : hosts) {
    if (host.kind == HostKind::local) continue;
    const SshSettings settings = config.settings_for(host);
    files.insert(settings.user_known_hosts.begin(), settings.user_known_hosts.end());
    const HostKeyTarget target = host_key_target(settings, settings.host_name);
    names.emplace_back(target.host, target.port);
  }
  std::string text;
  for (const std::string& file : files) {
    const std::size_t removed = forget_host_keys(file, names);
    if (removed > 0) text += fmt::format("forgot {} key{} in {}\n", removed, removed == 1 ? "" : "s", file);
  }
  return text.empty() ? "no key of these hosts is stored\n" : text;
}

}  // namespace

HostsAnswer answer_hosts(const Options& options, const Probe& probe) {
  Discovery found = discover(options.hosts, probe);
  const SshPlan ssh = ssh_plan(options, probe);
  if (options.forget_keys) return {.text = forget(found.hosts, *ssh.config), .notes = found.notes};
  HostsAnswer answer;
  if (!options.json) answer.notes = to_texts(found.tried);
  answer.notes.insert(answer.notes.end(), found.notes.begin(), found.notes.end());
  if (options.save) {
    if (!options.hosts.exclude.empty() || options.hosts.ranks)
      throw UsageError("--save: it saves the whole list (leave out -x and --ranks)");
    answer.notes.push_back(save_hosts(found, options.force ? Overwrite::replace : Overwrite::refuse, probe));
  }
  if (!options.json) {
    for (Host& host : found.hosts) host.source = escape_controls(host.source);
  }
  const auto view = options.json ? hosts_json : hosts_table;
  answer.text = view(found, addresses(found.hosts, *ssh.config));
  return answer;
}

}  // namespace podrun
