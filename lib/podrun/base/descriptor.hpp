// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <system_error>
#include <utility>

namespace podrun {

/// Owns a file descriptor and closes it; -1: none.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }

  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  /// Gives up the descriptor without closing it.
  int release() { return std::exchange(number_, -1); }
  void reset(int number = -1) {
    if (const int before = std::exchange(number_, number); before >= 0) ::close(before);
  }

 private:
  int number_;
};

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
