// SPDX-License-Identifier: Apache-2.0
#include "podrun/local/shell_command.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "podrun/local/spawn.hpp"

namespace podrun::local {

std::optional<int> run_shell_command(const std::string& shell, const std::string& command) {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return std::nullopt;
  const Spawned child =
      spawn({.arguments = {shell, "-c", command}, .descriptors = {null, null, STDERR_FILENO}});
  ::close(null);
  if (child.error != 0) return std::nullopt;
  int status = 0;
  while (::waitpid(child.pid, &status, 0) < 0) {
    if (errno != EINTR) return std::nullopt;
  }
  return WIFEXITED(status) ? std::optional<int>(WEXITSTATUS(status)) : std::nullopt;
}

}  // namespace podrun::local
