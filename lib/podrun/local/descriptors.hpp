// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace podrun {

/// Raises the soft RLIMIT_NOFILE to what so many hosts need. Returns the limit it had, for the children, or 0
/// when it was enough. Throws UsageError when the hard limit does not allow it.
std::size_t raise_descriptor_limit(std::size_t hosts);

}  // namespace podrun
