// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace podrun::local {

/// The number of hosts, by how many descriptors one of them needs.
struct HostCount {
  std::size_t by_ssh = 0;             ///< 1; 2 while it connects to several addresses; 3 with `MaxSessions 1`
  std::size_t by_child = 0;           ///< 12: three pipes and a pidfd for each of at most three programs
  std::size_t behind_jump_hosts = 0;  ///< counted in by_ssh; 1 more each
  std::size_t proxy_commands = 0;     ///< counted in by_ssh; 5 more each
  std::size_t with_agent = 0;         ///< counted in by_ssh; 3 more each during login
  std::size_t at_once = 128;          ///< hosts that connect at a time
};

struct DescriptorLimit {
  std::size_t before = 0;   ///< the former soft limit, for the children; 0: it was not changed
  std::size_t at_once = 0;  ///< hosts that can connect at a time; never more than requested
};

/// Raises the soft RLIMIT_NOFILE to what the hosts need. Throws UsageError if the hard limit is too low even
/// for one connecting host at a time.
DescriptorLimit raise_descriptor_limit(HostCount hosts);

}  // namespace podrun::local
