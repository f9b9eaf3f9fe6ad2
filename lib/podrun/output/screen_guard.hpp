// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <termios.h>

#include <string_view>

#include "podrun/base/descriptor.hpp"

namespace podrun::output {

/// A process that gives a terminal back if podrun ends while this object exists, whatever ends podrun
/// (SIGKILL, a crash): it writes `farewell` and sets the modes `before`, unless the modes are no longer
/// `inside`, since then another program, such as the shell, has them already. If no process can be started,
/// nothing guards.
class ScreenGuard {
 public:
  ScreenGuard(int terminal, const termios& before, const termios& inside, std::string_view farewell);
  ScreenGuard(const ScreenGuard&) = delete;
  ScreenGuard& operator=(const ScreenGuard&) = delete;
  /// Ends the process.
  ~ScreenGuard();

 private:
  Descriptor lifeline_;  ///< the end of a pipe that only podrun holds open
  pid_t process_ = -1;
};

}  // namespace podrun::output
