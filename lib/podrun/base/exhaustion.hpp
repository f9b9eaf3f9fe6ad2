// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>

namespace podrun {

/// Whether a system call failed because a resource is used up at the moment: descriptors or memory.
constexpr bool is_exhaustion(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace podrun
