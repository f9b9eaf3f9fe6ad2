// SPDX-License-Identifier: Apache-2.0
#include "podrun/local/transport_commands.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace podrun::local {
namespace {

using Clock = std::chrono::steady_clock;

/// Waits until `due` for the end of a child, without reaping it; returns at once without pidfd_open(2).
void wait_for_end(Clock::time_point due, pid_t pid) {
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  pollfd end{.fd = pidfd, .events = POLLIN, .revents = 0};
  int ended = 0;
  do {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - Clock::now());
    ended = ::poll(&end, 1, pidfd < 0 ? 0 : static_cast<int>(std::max(left, left.zero()).count()));
  } while (ended < 0 && errno == EINTR);
  if (pidfd >= 0) ::close(pidfd);
}

}  // namespace

void TransportCommands::kill(std::chrono::milliseconds patience) {
  const Clock::time_point due = Clock::now() + patience;
  for (const pid_t pid : pids_) {
    wait_for_end(due, pid);
    ::kill(-pid, SIGKILL);  // also if it has ended: its children may still run
  }
  pids_.clear();
}

}  // namespace podrun::local
