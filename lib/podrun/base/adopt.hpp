// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <system_error>

namespace podrun {

/// Gives an open descriptor to an object of asio's, which closes it at its end; after an error (epoll has no
/// room for it, for example) it is closed. `protocol`: for sockets.
template <typename Object, typename... Protocol>
std::error_code adopt(Object& object, int descriptor, const Protocol&... protocol) {
  std::error_code error;
  object.assign(protocol..., descriptor, error);
  if (error) ::close(descriptor);
  return error;
}

}  // namespace podrun
