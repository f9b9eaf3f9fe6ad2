// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <utility>

namespace podrun::output {

bool File::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool File::close() {
  const int descriptor = std::exchange(descriptor_, -1);
  return descriptor < 0 || ::close(descriptor) == 0;
}

}  // namespace podrun::output
