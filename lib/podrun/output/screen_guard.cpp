// SPDX-License-Identifier: Apache-2.0
// The process that outlives podrun to give the terminal back. It is forked from a process with several
// threads, so it may call only async-signal-safe functions (signal-safety(7)).
#include "podrun/output/screen_guard.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>

#include "podrun/base/thread.hpp"

namespace podrun::output {
namespace {

/// Not podrun's name, so that `pkill -9 podrun` leaves it alone.
constexpr const char* kName = "screen-guard";

/// How long it waits for a terminal that takes no bytes.
constexpr int kPatienceMs = 5'000;

/// A limit on descriptors may be far above what is open.
constexpr int kMostDescriptors = 1 << 20;

void close_between(int first, int last) {
  if (first > last) return;
  if (::close_range(static_cast<unsigned>(first), static_cast<unsigned>(last), 0) == 0) return;
  rlimit limit{};  // before Linux 5.9
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const int most = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, kMostDescriptors));
  for (int descriptor = first; descriptor <= std::min(last, most); ++descriptor) ::close(descriptor);
}

void close_all_but(int one, int other) {
  const int low = std::min(one, other);
  const int high = std::max(one, other);
  close_between(0, low - 1);
  close_between(low + 1, high - 1);
  close_between(high + 1, std::numeric_limits<int>::max());
}

bool has_modes(int terminal, const termios& modes) {
  termios now{};
  return ::tcgetattr(terminal, &now) == 0 && now.c_iflag == modes.c_iflag && now.c_oflag == modes.c_oflag &&
         now.c_lflag == modes.c_lflag && std::memcmp(&now.c_cc, &modes.c_cc, sizeof now.c_cc) == 0;
}

void write_patiently(int terminal, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(terminal, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      pollfd entry{terminal, POLLOUT, 0};
      if (::poll(&entry, 1, kPatienceMs) != 1) return;
    } else if (errno != EINTR) {
      return;
    }
  }
}

/// Returns when podrun has ended: no one writes to the pipe.
void wait_for_end(int lifeline) {
  char byte = 0;
  while (::read(lifeline, &byte, 1) < 0 && errno == EINTR) {
  }
}

}  // namespace

ScreenGuard::ScreenGuard(int terminal, const termios& before, const termios& inside,
                         std::string_view farewell) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
  const Descriptor reader(ends[0]);
  lifeline_.reset(ends[1]);
  // They stay blocked in the process: a handler of podrun there would tell podrun of the signal.
  const SignalsBlocked blocked{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTOU, SIGUSR1, SIGUSR2};
  process_ = ::fork();
  if (process_ != 0) return;
  ::setsid();  // so that no signal of the terminal, and no stop of a background process, reaches it
  ::prctl(PR_SET_NAME, kName);
  close_all_but(terminal, reader.get());
  wait_for_end(reader.get());
  if (has_modes(terminal, inside)) ::tcsetattr(terminal, TCSANOW, &before);
  write_patiently(terminal, farewell);
  ::_exit(0);
}

ScreenGuard::~ScreenGuard() {
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace podrun::output
