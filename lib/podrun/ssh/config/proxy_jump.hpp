// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/ssh/config/settings.hpp"

namespace podrun::ssh {

/// The jump hosts in a ProxyJump of ssh_config(5), in the order of connecting: comma-separated
/// `[user@]host[:port]` or `ssh://…`, with IPv6 addresses in brackets. Throws UsageError.
std::vector<hosts::Host> parse_proxy_jump(std::string_view text);

/// Returns the settings of a jump host. As in ssh, the command line does not count for these.
using SettingsForJumpHost = std::function<SshSettings(const hosts::Host&)>;

/// The last jump host of a ProxyJump. It is reached through the ones before it, else by its own settings.
SshSettings last_jump_host(const std::string& proxy_jump, const SettingsForJumpHost& settings_for);

/// All jump hosts of this route, the last one first; empty if the route is. Throws UsageError if it is
/// malformed or forms a circle.
std::vector<SshSettings> all_jump_hosts(const std::string& proxy_jump,
                                        const SettingsForJumpHost& settings_for);

}  // namespace podrun::ssh
