// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <system_error>

namespace podrun {

/// Hands an open descriptor to an asio object, which closes it when destroyed. After an error (epoll has no
/// room for it, for example) the descriptor is closed. `protocol`: for sockets.
template <typename Object, typename... Protocol>
std::error_code adopt(Object& object, int descriptor, const Protocol&... protocol) {
  std::error_code error;
  object.assign(protocol..., descriptor, error);
  if (error) ::close(descriptor);
  return error;
}

}  // namespace podrun
