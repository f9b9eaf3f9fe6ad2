// SPDX-License-Identifier: Apache-2.0
#include "ssh_settings.hpp"

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/local/login_environment.hpp"

namespace podrun {

SshSettings ssh_settings(const Options& options, const Probe& probe) {
  const Account account = own_account(probe.env("HOME").value_or(""));
  SshSettings settings = default_settings(account.home, probe.env("SSH_AUTH_SOCK").value_or(""));
  const auto apply = [&](const std::string& name, const std::string& keyword) {
    try {
      apply_option(settings, keyword, account.home);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {}", name, error.what()));
    }
  };
  for (const std::string& keyword : options.ssh.keywords) apply("-o", keyword);
  if (!options.ssh.port.empty()) apply("--port", "Port=" + options.ssh.port);
  if (!options.ssh.user.empty()) settings.user = options.ssh.user;
  if (settings.user.empty()) settings.user = account.name;
  settings.identity_files.insert(settings.identity_files.begin(), options.ssh.identities.begin(),
                                 options.ssh.identities.end());
  return settings;
}

SshSettings settings_for(const SshSettings& common, const Host& host) {
  SshSettings settings = common;
  if (settings.host_name.empty()) settings.host_name = host.name;
  if (!host.user.empty()) settings.user = host.user;
  if (host.port != 0) settings.port = host.port;
  return settings;
}

}  // namespace podrun
