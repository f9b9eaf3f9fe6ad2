// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/ssh/settings.hpp"

namespace podrun {

/// The jump hosts that ProxyJump of ssh_config(5) names, the first to be reached first: `[user@]host[:port]`
/// or `ssh://…` between commas, IPv6 addresses in brackets. Throws UsageError.
std::vector<Host> parse_proxy_jump(std::string_view text);

/// What is configured for a jump host. As in ssh the command line says nothing of these.
using SettingsForJumpHost = std::function<SshSettings(const Host&)>;

/// The last jump host of a ProxyJump, which is reached through the ones before it, else by its own settings.
SshSettings last_jump_host(const std::string& proxy_jump, const SettingsForJumpHost& settings_for);

/// All jump hosts on this way, the last one first; none for an empty one. Throws UsageError when it cannot be
/// read or leads round in a circle.
std::vector<SshSettings> all_jump_hosts(const std::string& proxy_jump,
                                        const SettingsForJumpHost& settings_for);

}  // namespace podrun
