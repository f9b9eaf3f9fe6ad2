// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "podrun/link/failure.hpp"

namespace podrun::link {

/// Whether the server, or a jump host, said something instead of its SSH version and closed the connection:
/// it has too many logins under way, or takes none from this address for 15 s or more.
inline bool is_turned_away(const Failure& failure) {
  return failure.stage == Stage::ssh_banner && failure.cause == Cause::closed && !failure.detail.empty();
}

}  // namespace podrun::link
