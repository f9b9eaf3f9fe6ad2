// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace podrun {

/// Whether the group is this user's own and has no other member, as Debian gives each user one: what only
/// it may write, nobody else writes. False where either is unknown.
bool is_private_group(gid_t group, uid_t user);

}  // namespace podrun
