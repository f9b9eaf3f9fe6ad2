// SPDX-License-Identifier: Apache-2.0
// Runs the command of --prepare here. It has a session of its own, so that nothing of it is left when podrun
// is told to end.
#include "podrun/restarts/prepare.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "podrun/base/descriptor.hpp"
#include "podrun/local/spawn.hpp"

namespace podrun::restarts {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNotStarted = 126;
constexpr std::chrono::milliseconds kLook{100};

/// Its exit status, if it has ended.
std::optional<int> ended(pid_t pid) {
  int status = 0;
  if (::waitpid(pid, &status, WNOHANG) != pid) return std::nullopt;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// TERM, then KILL, for the whole session.
void stop(pid_t pid, std::chrono::seconds grace) {
  ::kill(-pid, SIGTERM);
  const Clock::time_point due = Clock::now() + grace;
  while (!ended(pid)) {
    if (Clock::now() >= due) ::kill(-pid, SIGKILL);
    ::usleep(50'000);
  }
  ::kill(-pid, SIGKILL);
}

}  // namespace

PrepareEnd run_here(session::Session& session, const std::string& command,
                    const std::vector<std::string>& variables) {
  const Descriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const local::Spawned child = local::spawn({.arguments = {"/bin/sh", "-c", command},
                                             .environment = local::environment_with(variables),
                                             .descriptors = {null.get(), STDERR_FILENO, STDERR_FILENO},
                                             .new_session = true});
  if (child.error != 0) return {kNotStarted};
  for (;;) {
    if (const std::optional<int> status = ended(child.pid)) return {*status};
    const std::optional<int> signal =
        session.wait_until(Clock::now() + kLook, [](run::TimePoint) { return output::StatusText(); });
    if (!signal) continue;
    stop(child.pid, session.spec().limits.grace);
    return {0, signal};
  }
}

}  // namespace podrun::restarts
