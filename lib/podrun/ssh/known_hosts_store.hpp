// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// The files that known host keys stand in.
namespace podrun {

/// Empty when there is no such file. Throws UsageError when it cannot be read.
std::string read_known_hosts(const std::string& path);

/// Adds a line in one write; makes the file (0600) and its directory (0700) if they are missing. Returns what
/// went wrong, or nothing.
std::string append_known_host(const std::string& path, const std::string& line);

/// Drops the keys of hosts (name and port) from a file by putting a new one in its place. Returns how many.
/// Waits up to 0.2 s for the file's lock. Throws UsageError when it cannot be read or written.
std::size_t forget_host_keys(const std::string& path,
                             const std::vector<std::pair<std::string, std::uint16_t>>& hosts);

}  // namespace podrun
