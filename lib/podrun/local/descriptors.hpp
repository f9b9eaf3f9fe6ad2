// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace podrun {

/// How many hosts there are, by what one of them costs.
struct HostCount {
  std::size_t by_ssh = 0;    ///< one; two while it connects to several addresses; three of `MaxSessions 1`
  std::size_t by_child = 0;  ///< 12: three pipes and a pidfd for each of at most three programs
  std::size_t behind_jump_hosts = 0;  ///< of those by SSH: one more
  std::size_t proxy_commands = 0;     ///< of those by SSH: five more
};

/// Raises the soft RLIMIT_NOFILE to what the hosts need. Returns the limit it had, for the children, or 0
/// when it was enough. Throws UsageError when the hard limit does not allow it.
std::size_t raise_descriptor_limit(HostCount hosts);

}  // namespace podrun
