// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <asio/any_io_executor.hpp>

#include "podrun/base/defaults.hpp"
#include "podrun/link/link.hpp"
#include "podrun/ssh/auth/login.hpp"
#include "podrun/ssh/config/proxy_jump.hpp"
#include "podrun/ssh/host_keys/host_keys.hpp"
#include "podrun/ssh/transport/resolver.hpp"

namespace podrun::ssh {

/// Shared by all SSH links of a run; must outlive them.
struct SshWorld {
  asio::any_io_executor executor;
  const Resolver& resolver;
  HostKeys& host_keys;
  Credentials& credentials;
  std::chrono::seconds connect_timeout{
      10};  ///< for a link's later connections; open() has no limit of its own
  std::chrono::seconds orphan_timeout = kDefaultOrphanTimeout;  ///< see Supervision
  SettingsForJumpHost settings_for_jump_host;
  /// Runs a ProxyCommand in the user's shell. Throws HostError.
  std::function<std::shared_ptr<link::Stream>(const std::string& command)> run_proxy_command;
};

}  // namespace podrun::ssh
