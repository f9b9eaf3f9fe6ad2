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
  std::size_t with_agent = 0;         ///< of those by SSH: three more while it logs in
  std::size_t at_once = 128;          ///< hosts that connect at a time
};

struct DescriptorLimit {
  std::size_t before = 0;   ///< the soft limit, for the children; 0: it was enough
  std::size_t at_once = 0;  ///< hosts that can connect at a time, at most those asked for
};

/// Raises the soft RLIMIT_NOFILE to what the hosts need. Throws UsageError when the hard limit does not allow
/// it though only one host connects at a time.
DescriptorLimit raise_descriptor_limit(HostCount hosts);

}  // namespace podrun
