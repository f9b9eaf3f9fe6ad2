// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "podrun/link/link.hpp"
#include "podrun/ssh/config/settings.hpp"
#include "podrun/ssh/ssh_world.hpp"

namespace podrun::ssh {

/// Links over libssh, without an ssh process. Calls `settings_for` once per link. A link has one connection,
/// and more only if the server allows too few channels on it (MaxSessions of sshd_config(5)).
std::unique_ptr<link::Connector> make_ssh_connector(
    const SshWorld& world, std::function<SshSettings(const hosts::Host&)> settings_for);

}  // namespace podrun::ssh
