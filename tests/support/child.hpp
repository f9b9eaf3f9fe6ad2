// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace podrun::test {

/// A program in the background, its standard streams on /dev/null; it is killed with this.
class Child {
 public:
  explicit Child(std::vector<std::string> words) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    for (int descriptor = 0; descriptor < 3; ++descriptor) {
      ::posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", descriptor == 0 ? 0 : 1, 0);
    }
    ::posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int error = ::posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("cannot run " + words.front());
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  void signal(int number) const { ::kill(pid_, number); }
  bool runs() const {
    siginfo_t ended{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT);
    return ended.si_pid == 0;
  }

 private:
  pid_t pid_ = 0;
};

}  // namespace podrun::test
