// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace podrun {

/// How a host is reached: over the network, or this machine without any (`local`).
enum class HostKind { remote, local };

/// Where sshd listens when nothing else is said.
inline constexpr std::uint16_t kSshPort = 22;

/// One host of the run.
struct Host {
  std::size_t label = 0;   ///< position in its list: stable when only some hosts are selected
  std::string name = {};   ///< as the list has it, without user and port
  std::string user = {};   ///< empty: not given
  std::uint16_t port = 0;  ///< 0: not given
  HostKind kind = HostKind::remote;
  std::string source = {};  ///< where it was found: `-H`, `podips.txt:7`

  friend bool operator==(const Host&, const Host&) = default;
};

}  // namespace podrun
