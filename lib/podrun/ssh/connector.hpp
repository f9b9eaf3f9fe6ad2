// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include <asio/any_io_executor.hpp>

#include "podrun/link/link.hpp"
#include "podrun/ssh/host_keys.hpp"
#include "podrun/ssh/login.hpp"
#include "podrun/ssh/resolver.hpp"
#include "podrun/ssh/settings.hpp"

namespace podrun {

/// What all SSH links of a run share; it must outlive them.
struct SshWorld {
  asio::any_io_executor executor;
  const Resolver& resolver;
  HostKeys& host_keys;
  Credentials& credentials;
};

/// Links over libssh, without an ssh process. `settings_for` is asked once a link.
std::unique_ptr<Connector> make_ssh_connector(const SshWorld& world,
                                              std::function<SshSettings(const Host&)> settings_for);

}  // namespace podrun
