// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/base/text.hpp"
#include "podrun/hosts/host.hpp"

// How to reach a host over SSH, under the names of ssh_config(5). Pure.
namespace podrun::ssh {

/// StrictHostKeyChecking: the treatment of an unknown host key, from the laxest to the strictest. Only `no`
/// accepts a changed key.
enum class HostKeyCheck { no, accept_new, ask, yes };
enum class AddressFamily { any, ipv4, ipv6 };

struct SshSettings {
  std::string host_name = {};  ///< HostName; empty: the name in the list of hosts
  std::string user = {};       ///< empty: the user who runs podrun
  std::uint16_t port = hosts::kSshPort;
  AddressFamily address_family = AddressFamily::any;
  std::string bind_address = {};
  std::string proxy_jump = {};     ///< ProxyJump: comma-separated `[user@]host[:port]`
  std::string proxy_command = {};  ///< ProxyCommand: shell text with its tokens expanded; empty: none
  std::chrono::seconds alive_interval{15};  ///< ServerAliveInterval; 0: never ask
  unsigned alive_count_max = 3;
  bool compression = false;  ///< of all that is sent, both ways

  std::vector<std::string> identity_files = {};     ///< `none`: no file; empty: the default files
  std::vector<std::string> certificate_files = {};  ///< besides each identity's own FILE-cert.pub
  std::vector<std::string> optional_files = {};     ///< files of both lists that may be missing
  bool identities_only = false;
  std::string agent_socket = {};  ///< empty: no agent

  HostKeyCheck host_key_check = HostKeyCheck::accept_new;
  std::vector<std::string> user_known_hosts = {};  ///< a new key is added to the first; empty: to none
  std::vector<std::string> global_known_hosts = {};
  bool hash_known_hosts = false;
  std::string host_key_alias = {};
  unsigned required_rsa_size = 2048;  ///< bits of RSA keys, of hosts and users
  bool batch_mode = false;            ///< ask nothing: no new host key, no passphrase, no password

  bool public_key_authentication = true;
  bool password_authentication = true;
  bool kbd_interactive_authentication = true;  ///< KbdInteractiveAuthentication: the server's own prompts
  std::string preferred_authentications = {};  ///< comma-separated; empty: all
  unsigned password_prompts = 3;               ///< NumberOfPasswordPrompts
  bool takes_keys() const { return public_key_authentication && prefers("publickey"); }
  bool takes_password() const { return password_authentication && prefers("password"); }
  bool takes_prompts() const { return kbd_interactive_authentication && prefers("keyboard-interactive"); }
  bool prefers(std::string_view method) const {
    const std::vector<std::string_view> methods = split(preferred_authentications, ',');
    return preferred_authentications.empty() ||
           std::find(methods.begin(), methods.end(), method) != methods.end();
  }

  // Algorithms by preference, comma-separated; empty: podrun's defaults
  std::string kex_algorithms = {};
  std::string host_key_algorithms = {};
  std::string ciphers = {};
  std::string macs = {};
  std::string public_key_algorithms = {};  ///< PubkeyAcceptedAlgorithms

  std::optional<std::chrono::seconds> connect_timeout = std::nullopt;
  std::optional<unsigned> connection_attempts = std::nullopt;
};

}  // namespace podrun::ssh
