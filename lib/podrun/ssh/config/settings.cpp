// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/config/settings.hpp"

namespace podrun::ssh {

SshSettings default_settings(const std::string& home, const std::string& agent_socket) {
  SshSettings settings;
  settings.agent_socket = agent_socket;
  settings.user_known_hosts = {home + "/.ssh/known_hosts", home + "/.ssh/known_hosts2"};
  settings.global_known_hosts = {"/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"};
  return settings;
}

}  // namespace podrun::ssh
