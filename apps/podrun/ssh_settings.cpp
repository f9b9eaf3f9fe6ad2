// SPDX-License-Identifier: Apache-2.0
#include "ssh_settings.hpp"

#include "podrun/local/login_environment.hpp"

namespace podrun {

SshPlan ssh_plan(const Options& options, const Probe& probe) {
  const Account account = own_account(probe.env("HOME").value_or(""));
  SshPlan plan{.home = account.home,
               .settings = default_settings(account.home, probe.env("SSH_AUTH_SOCK").value_or("")),
               .passed_over = {}};
  plan.passed_over = apply_options(plan.settings, options.ssh.keywords, account.home);
  if (options.ssh.port != 0) plan.settings.port = options.ssh.port;
  if (!options.ssh.user.empty()) plan.settings.user = options.ssh.user;
  if (plan.settings.user.empty()) plan.settings.user = account.name;
  plan.settings.identity_files.insert(plan.settings.identity_files.begin(), options.ssh.identities.begin(),
                                      options.ssh.identities.end());
  return plan;
}

SshSettings settings_for(const SshSettings& common, const Host& host) {
  SshSettings settings = common;
  if (settings.host_name.empty()) settings.host_name = host.name;
  if (!host.user.empty()) settings.user = host.user;
  if (host.port != 0) settings.port = host.port;
  return settings;
}

}  // namespace podrun
