// SPDX-License-Identifier: Apache-2.0
#include "connectors.hpp"

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/local/connectors.hpp"
#include "podrun/local/login_environment.hpp"

extern char** environ;

namespace podrun {
namespace {

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

void check_ways(const std::vector<Host>& hosts, const std::optional<ViaTemplate>& via) {
  for (const Host& host : hosts) {
    if (host.kind == HostKind::local) continue;
    if (!via) {
      throw UsageError(fmt::format("{}: no way to \"{}\" (SSH is not built in yet: add --via 'ssh {{host}}')",
                                   host.source, host.name));
    }
    via->words_for(host);
  }
}

}  // namespace

Connectors::Connectors(const asio::any_io_executor& executor, const Options& options,
                       const std::vector<Host>& hosts, const Probe& probe, std::size_t descriptor_limit)
    : local_(make_local_connector(executor, local_child(probe, descriptor_limit))) {
  std::optional<ViaTemplate> via;
  if (!options.via.empty()) via.emplace(options.via);
  check_ways(hosts, via);
  if (via) {
    remote_ = make_via_connector(executor, *via,
                                 {.environment = own_environment(), .descriptor_limit = descriptor_limit});
  }
}

}  // namespace podrun
