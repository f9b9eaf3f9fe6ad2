// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thread>

// Checks what a caller has promised and no type can express.
namespace podrun {

/// Throws std::logic_error with this text if the promise is broken, in builds with PODRUN_DEV (all tests).
/// Other builds check nothing.
void expect(bool holds, const char* promise);

/// A call that is made at most once.
class Once {
 public:
  void call(const char* promise) {
    expect(!called_, promise);
    called_ = true;
  }

 private:
  bool called_ = false;
};

/// Calls that are all made on one thread: the one that made this.
class OneThread {
 public:
  void check(const char* promise) const { expect(std::this_thread::get_id() == thread_, promise); }

 private:
  std::thread::id thread_ = std::this_thread::get_id();
};

}  // namespace podrun
