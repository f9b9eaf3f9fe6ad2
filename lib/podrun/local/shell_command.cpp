// SPDX-License-Identifier: Apache-2.0
#include "podrun/local/shell_command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

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

/// Closes a descriptor.
struct Descriptor {
  int number = -1;

  Descriptor() = default;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }
  void reset() {
    if (number >= 0) ::close(std::exchange(number, -1));
  }
};

struct Pipe {
  Descriptor reader;
  Descriptor writer;

  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    reader.number = ends[0];
    writer.number = ends[1];
    return true;
  }
  /// Appends what is there; closes at the end.
  void read(std::string& text) {
    std::array<char, 65536> buffer{};
    const ssize_t count = ::read(reader.number, buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) reader.reset();
  }
};

}  // namespace

std::optional<int> run_shell_command(const std::string& shell, const std::string& command) {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return std::nullopt;
  const Spawned child =
      spawn({.arguments = {shell, "-c", command}, .descriptors = {null, null, STDERR_FILENO}});
  ::close(null);
  if (child.error != 0) return std::nullopt;
  return status_of(child.pid);
}

CommandOutput read_shell_command(const std::string& shell, const std::string& command,
                                 std::chrono::milliseconds limit, std::size_t most) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + limit;
  CommandOutput result;
  Descriptor null;
  Pipe output;
  Pipe error;
  null.number = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null.number < 0 || !output.open() || !error.open()) return result;
  const Spawned child = spawn({.arguments = {shell, "-c", command},
                               .descriptors = {null.number, output.writer.number, error.writer.number},
                               .new_session = true});
  output.writer.reset();
  error.writer.reset();
  if (child.error != 0) return result;
  while (output.reader.number >= 0 || error.reader.number >= 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) result.fate = CommandOutput::Fate::timed_out;
    if (result.output.size() + result.error.size() > most) result.fate = CommandOutput::Fate::too_long;
    if (result.fate != CommandOutput::Fate::ended) {
      ::kill(-child.pid, SIGKILL);
      break;
    }
    std::array<pollfd, 2> entries{{{output.reader.number, POLLIN, 0}, {error.reader.number, POLLIN, 0}}};
    if (::poll(entries.data(), entries.size(), static_cast<int>(left.count())) <= 0) continue;
    if (entries[0].revents != 0) output.read(result.output);
    if (entries[1].revents != 0) error.read(result.error);
  }
  result.status = status_of(child.pid);
  return result;
}

}  // namespace podrun::local
