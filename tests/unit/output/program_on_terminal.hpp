// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "unit/output/pipe.hpp"

namespace podrun::test {

inline constexpr unsigned kLimitSeconds = 60;
inline constexpr std::string_view kEnd = "<end>";
inline constexpr std::string_view kStopped = "<stopped>";

/// For the program.
inline void put(std::string_view text) {
  if (::write(STDOUT_FILENO, text.data(), text.size()) < 0) ::_exit(1);
}

/// The end of a program that was started on the terminal.
struct End {
  int status = 0;  ///< see waitpid(2)
  int others = 0;  ///< processes that it left, and that have ended since
};

/// A terminal with a shell in it, which starts one program in its foreground.
class ProgramOnTerminalTest : public testing::Test {
 protected:
  ProgramOnTerminalTest() {
    winsize size{.ws_row = 30, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0};
    if (::openpty(&master_, &terminal_, name_, nullptr, &size) != 0) std::abort();
    ::tcgetattr(terminal_, &before_);
    before_.c_oflag &= ~static_cast<tcflag_t>(OPOST);
    ::tcsetattr(terminal_, TCSANOW, &before_);
  }
  ~ProgramOnTerminalTest() override {
    finished_.close_write();
    if (shell_ > 0) ::waitpid(shell_, nullptr, 0);
    ::close(master_);
    ::close(terminal_);
  }

  void start(const std::function<void()>& program) {
    shell_ = ::fork();
    if (shell_ == 0) be_shell(program);
    report_.close_write();
  }
  /// All bytes that were written to the terminal until the program and what it left have ended.
  std::string bytes_to_end() { return bytes_to(kEnd); }
  std::string bytes_to(std::string_view mark) {
    std::string bytes;
    pollfd entry{master_, POLLIN, 0};
    while (!bytes.ends_with(mark) && ::poll(&entry, 1, kLimitSeconds * 1000) == 1) {
      char byte = 0;
      if (::read(master_, &byte, 1) != 1) break;
      bytes += byte;
    }
    return bytes.ends_with(mark) ? bytes.substr(0, bytes.size() - mark.size()) : "no mark after: " + bytes;
  }
  void type(const std::string& bytes) {
    ASSERT_EQ(::write(master_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  /// After bytes_to(kStopped): the program goes on.
  void bring_to_foreground() {
    if (::write(resume_.write_fd(), "x", 1) != 1) std::abort();
  }
  /// After bytes_to_end().
  End end() {
    const std::string bytes = report_.read_some(sizeof(End));
    End end;
    if (bytes.size() == sizeof end) std::memcpy(&end, bytes.data(), sizeof end);
    return end;
  }
  bool has_its_modes() const {
    termios now{};
    ::tcgetattr(terminal_, &now);
    return now.c_lflag == before_.c_lflag && now.c_iflag == before_.c_iflag &&
           std::memcmp(now.c_cc, before_.c_cc, sizeof now.c_cc) == 0;
  }

 private:
  [[noreturn]] void be_shell(const std::function<void()>& program) {
    ::alarm(2 * kLimitSeconds);
    ::setsid();
    report_.close_read();
    finished_.close_write();
    const int terminal = ::open(name_, O_RDWR);
    for (const int standard : {0, 1, 2}) ::dup2(terminal, standard);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    std::signal(SIGTTOU, SIG_IGN);
    const pid_t child = ::fork();
    if (child == 0) {
      const rlimit no_core{};
      ::setrlimit(RLIMIT_CORE, &no_core);
      ::setpgid(0, 0);
      ::tcsetpgrp(0, ::getpid());
      for (const int signal : {SIGTTOU, SIGSEGV, SIGTERM, SIGINT, SIGHUP, SIGTSTP})
        std::signal(signal, SIG_DFL);
      program();
      ::_exit(0);
    }
    End end;
    while (::waitpid(child, &end.status, WUNTRACED) == child && WIFSTOPPED(end.status)) {
      ::tcsetpgrp(0, ::getpgrp());
      put(kStopped);
      resume_.read_some(1);
      ::tcsetpgrp(0, child);
      ::kill(-child, SIGCONT);
    }
    while (::waitpid(-1, nullptr, 0) > 0) ++end.others;
    put(kEnd);
    if (::write(report_.write_fd(), &end, sizeof end) < 0) ::_exit(1);
    finished_.read_some();  // with it, the terminal would go
    ::_exit(0);
  }

  Pipe report_;
  Pipe resume_;
  Pipe finished_;
  char name_[100] = {};
  int master_ = -1;
  int terminal_ = -1;
  termios before_{};
  pid_t shell_ = -1;
};

}  // namespace podrun::test
