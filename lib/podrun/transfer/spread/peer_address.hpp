// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace podrun::transfer {

/// Where podrun reaches a host.
struct Reached {
  std::string address = {};    ///< empty: unknown
  bool is_of_several = false;  ///< other hosts of the push are behind other ports of it
};

/// Where the other hosts of a push may connect to a host: at the address that the host claims, if that can be
/// right for one that podrun reaches there, else where podrun does. Empty: at neither, since both mean
/// something else to each host.
std::string peer_address(std::string_view claimed, const Reached& reached);

}  // namespace podrun::transfer
