// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace podrun {

/// Whether this is the user's own group without other members, as Debian creates for each user: only the user
/// can write what the group may write. False if the user or the group is unknown.
bool is_private_group(gid_t group, uid_t user);

}  // namespace podrun
