// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace podrun::hosts {

/// How a host is reached: over the network, or directly because it is this machine (`local`).
enum class HostKind { remote, local };

/// The port of sshd unless another one is given.
inline constexpr std::uint16_t kSshPort = 22;

/// One host of the run.
struct Host {
  std::size_t worker = 0;    ///< its worker number: its position in the whole list
  std::string name = {};     ///< as in the list, without user and port
  std::string user = {};     ///< empty: not given
  std::uint16_t port = 0;    ///< 0: not given
  std::string address = {};  ///< where ssh finds it (Ansible's ansible_host); empty: under its name
  std::size_t slots = 0;     ///< how many processes it takes (MPI); 0: not given
  HostKind kind = HostKind::remote;
  std::string source = {};  ///< where it was found: `-H`, `podips.txt:7`

  friend bool operator==(const Host&, const Host&) = default;
};

/// Where a host is found: its address, else its name.
inline const std::string& address_of(const Host& host) {
  return host.address.empty() ? host.name : host.address;
}

}  // namespace podrun::hosts
