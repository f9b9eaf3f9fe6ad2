// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include <asio/any_io_executor.hpp>

#include "podrun/link/link.hpp"
#include "podrun/ssh/host_keys.hpp"
#include "podrun/ssh/login.hpp"
#include "podrun/ssh/proxy_jump.hpp"
#include "podrun/ssh/resolver.hpp"
#include "podrun/ssh/settings.hpp"

namespace podrun {

/// What all SSH links of a run share; it must outlive them.
struct SshWorld {
  asio::any_io_executor executor;
  const Resolver& resolver;
  HostKeys& host_keys;
  Credentials& credentials;
  std::chrono::seconds connect_timeout{10};  ///< of what a link connects besides open(), which has none
  std::chrono::seconds orphan_timeout{120};  ///< see Supervision
  SettingsForJumpHost settings_for_jump_host;
  /// Runs a ProxyCommand by the user's shell. Throws HostError.
  std::function<std::shared_ptr<Stream>(const std::string& command)> run_proxy_command;
};

/// Links over libssh, without an ssh process. `settings_for` is asked once a link. A link has one connection,
/// and more only where the server takes too few channels on it (MaxSessions of sshd_config(5)).
std::unique_ptr<Connector> make_ssh_connector(const SshWorld& world,
                                              std::function<SshSettings(const Host&)> settings_for);

}  // namespace podrun
