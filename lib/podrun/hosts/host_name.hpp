// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/host_pattern.hpp"

namespace podrun::hosts {

/// Reads one host as a user writes it, without ranges: `user@name:port`, `[2001:db8::1]:22`, `local3`. Throws
/// UsageError that names `entry`.
Host parse_host(std::string_view text, const HostEntry& entry);

/// Reads a name or an address as programs write it: no user, port, range or `local`. Throws UsageError.
Host parse_plain_host(std::string_view text, std::string_view where);

/// Reads 1 to 65535, or a user name for ssh. Throws UsageError that names `entry`.
std::uint16_t parse_port(std::string_view text, const HostEntry& entry);
std::string parse_user(std::string_view text, const HostEntry& entry);

/// Whether it is an IPv4 or IPv6 address, without a port.
bool is_address(std::string_view text);

/// Whether it is an IPv4 address of a private network: RFC 1918, or RFC 6598 (100.64.0.0/10).
bool is_private_address(std::string_view text);

/// Whether a host has a number for a name, and no address: the resolver would make 0.0.0.4 of 4.
bool is_bare_number(const Host& host);

/// `user@name:port`, which parse_host() reads back.
std::string to_text(const Host& host);

/// `3-tpu-3`, as the name of a file or directory for a host: a single name, even if the host's has slashes.
std::string host_file_name(const Host& host);

}  // namespace podrun::hosts
