// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/config/settings.hpp"

#include <algorithm>

#include "podrun/base/text.hpp"

namespace podrun::ssh {

bool SshSettings::takes_password() const { return password_authentication && prefers("password"); }

bool SshSettings::takes_prompts() const {
  return kbd_interactive_authentication && prefers("keyboard-interactive");
}

bool SshSettings::prefers(std::string_view method) const {
  const std::vector<std::string_view> methods = split(preferred_authentications, ',');
  return preferred_authentications.empty() ||
         std::find(methods.begin(), methods.end(), method) != methods.end();
}

SshSettings default_settings(const std::string& home, const std::string& agent_socket) {
  SshSettings settings;
  settings.agent_socket = agent_socket;
  settings.user_known_hosts = {home + "/.ssh/known_hosts", home + "/.ssh/known_hosts2"};
  settings.global_known_hosts = {"/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"};
  return settings;
}

}  // namespace podrun::ssh
