// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <stdexcept>

namespace podrun {

/// A run that cannot start: wrong usage or unreadable input. Caught once, in main: one line on stderr, exit
/// status 2. Its text is `where: what "value" (what to do)`, in lower case, without a full stop.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Whether a system call failed because descriptors or memory are used up at the moment.
constexpr bool is_exhaustion(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace podrun
