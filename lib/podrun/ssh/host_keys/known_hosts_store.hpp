// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// The known_hosts files.
namespace podrun::ssh {

/// The file's text; empty if there is no such file. Throws UsageError if it cannot be read.
std::string read_known_hosts(const std::string& path);

/// Adds a line in one write; makes the file (0600) and its directory (0700) if missing. Returns the error, or
/// nothing.
std::string append_known_host(const std::string& path, const std::string& line);

/// Removes the keys of hosts (name and port) by replacing the file; returns how many. Waits up to 0.2 s for
/// the file's lock. Throws UsageError if it cannot be read or written.
std::size_t forget_host_keys(const std::string& path,
                             const std::vector<std::pair<std::string, std::uint16_t>>& hosts);

}  // namespace podrun::ssh
