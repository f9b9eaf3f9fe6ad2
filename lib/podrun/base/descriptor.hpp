// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

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
  /// Leaves it open, and to the caller.
  int release() { return std::exchange(number_, -1); }
  void reset(int number = -1) {
    if (const int before = std::exchange(number_, number); before >= 0) ::close(before);
  }

 private:
  int number_;
};

}  // namespace podrun
