// SPDX-License-Identifier: Apache-2.0
#include "podrun/local/local_command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "podrun/base/descriptor.hpp"
#include "podrun/local/spawn.hpp"

namespace podrun::local {
namespace {

std::optional<int> status_of(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return std::nullopt;
  }
  return WIFEXITED(status) ? std::optional<int>(WEXITSTATUS(status)) : std::nullopt;
}

struct Pipe {
  Descriptor reader;
  Descriptor writer;

  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    reader.reset(ends[0]);
    writer.reset(ends[1]);
    return true;
  }
  /// Appends what is there; closes at the end.
  void read(std::string& text) {
    std::array<char, 65536> buffer{};
    const ssize_t count = ::read(reader.get(), buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) reader.reset();
  }
};

}  // namespace

std::optional<int> run_shell_command(const std::string& shell, const std::string& command) {
  const Descriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.is_open()) return std::nullopt;
  const Spawned child =
      spawn({.arguments = {shell, "-c", command}, .descriptors = {null.get(), null.get(), STDERR_FILENO}});
  if (child.error != 0) return std::nullopt;
  return status_of(child.pid);
}

CommandOutput read_shell_command(const std::string& shell, const std::string& command,
                                 std::chrono::milliseconds limit, std::size_t most) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + limit;
  CommandOutput result;
  const Descriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Pipe output;
  Pipe error;
  if (!null.is_open() || !output.open() || !error.open()) return result;
  const Spawned child = spawn({.arguments = {shell, "-c", command},
                               .descriptors = {null.get(), output.writer.get(), error.writer.get()},
                               .new_session = true});
  output.writer.reset();
  error.writer.reset();
  if (child.error != 0) return result;
  while (output.reader.is_open() || error.reader.is_open()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) result.fate = CommandOutput::Fate::timed_out;
    if (result.output.size() + result.error.size() > most) result.fate = CommandOutput::Fate::too_long;
    if (result.fate != CommandOutput::Fate::ended) {
      ::kill(-child.pid, SIGKILL);
      break;
    }
    std::array<pollfd, 2> entries{{{output.reader.get(), POLLIN, 0}, {error.reader.get(), POLLIN, 0}}};
    if (::poll(entries.data(), entries.size(), static_cast<int>(left.count())) <= 0) continue;
    if (entries[0].revents != 0) output.read(result.output);
    if (entries[1].revents != 0) error.read(result.error);
  }
  result.status = status_of(child.pid);
  return result;
}

}  // namespace podrun::local
