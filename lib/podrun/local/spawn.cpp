// SPDX-License-Identifier: Apache-2.0
// Starts child processes by posix_spawn(3), and runs shell commands of this machine to their end.
#include "podrun/local/spawn.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "podrun/base/descriptor.hpp"
#include "podrun/base/file_system.hpp"

namespace podrun::local {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostErrors = 1 << 20;

/// The options of posix_spawn; frees them.
class SpawnOptions {
 public:
  explicit SpawnOptions(const Child& child) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    for (int target = 0; target < 3; ++target) {
      ::posix_spawn_file_actions_adddup2(&actions_, child.descriptors[static_cast<std::size_t>(target)],
                                         target);
    }
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, 3);
    if (!child.directory.empty()) ::posix_spawn_file_actions_addchdir_np(&actions_, child.directory.c_str());
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    const int session = child.new_session ? POSIX_SPAWN_SETSID : 0;
    ::posix_spawnattr_setflags(&attributes_,
                               static_cast<short>(session | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  }
  SpawnOptions(const SpawnOptions&) = delete;
  SpawnOptions& operator=(const SpawnOptions&) = delete;
  ~SpawnOptions() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

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

std::vector<std::string> environment_with(const std::vector<std::string>& variables) {
  std::vector<std::string> environment = variables;
  for (char** entry = ::environ; *entry; ++entry) {
    const std::string_view own = *entry;
    const std::string_view name = own.substr(0, own.find('=') + 1);
    const bool is_replaced = std::any_of(
        variables.begin(), variables.end(),
        [name](const std::string& variable) { return !name.empty() && variable.starts_with(name); });
    if (!is_replaced) environment.emplace_back(own);
  }
  return environment;
}

Spawned spawn(const Child& child) {
  const SpawnOptions options(child);
  const std::vector<char*> arguments = pointers(child.arguments);
  const std::vector<char*> environment =
      child.environment ? pointers(*child.environment) : std::vector<char*>();
  Spawned spawned;
  spawned.error = ::posix_spawnp(&spawned.pid, arguments[0], options.actions(), options.attributes(),
                                 arguments.data(), child.environment ? environment.data() : ::environ);
  return spawned;
}

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

namespace {

CommandOutput run_on_text(const std::vector<std::string>& arguments, std::string_view input,
                          std::vector<std::string> environment,
                          std::optional<std::chrono::milliseconds> limit) {
  CommandOutput result;
  const Descriptor null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  const Descriptor text(::memfd_create("input", MFD_CLOEXEC));
  const Descriptor error(::memfd_create("error", MFD_CLOEXEC));
  if (!null.is_open() || !text.is_open() || !error.is_open()) return result;
  if (!write_whole(text.get(), input) || ::lseek(text.get(), 0, SEEK_SET) != 0) return result;
  const Spawned child = spawn({.arguments = arguments,
                               .environment = std::move(environment),
                               .descriptors = {text.get(), null.get(), error.get()},
                               .new_session = true});
  if (child.error != 0) return result;
  if (limit) {
    constexpr useconds_t kLook = 20'000;
    const Clock::time_point deadline = Clock::now() + *limit;
    siginfo_t ended{};
    const auto runs = [&] {
      ended.si_pid = 0;
      return ::waitid(P_PID, static_cast<id_t>(child.pid), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
             ended.si_pid == 0;
    };
    while (runs() && Clock::now() < deadline) ::usleep(kLook);
    if (runs()) {
      result.fate = CommandOutput::Fate::timed_out;
      ::kill(-child.pid, SIGKILL);
    }
  }
  result.status = status_of(child.pid);
  ::lseek(error.get(), 0, SEEK_SET);
  result.error = read_whole(error.get(), kMostErrors).value_or("");
  return result;
}

}  // namespace

CommandOutput run_on_text(const std::vector<std::string>& arguments, std::string_view input) {
  return run_on_text(arguments, input, {}, std::nullopt);
}

CommandOutput run_shell_on_text(const std::string& command, std::string_view input,
                                const std::vector<std::string>& variables, std::chrono::milliseconds limit) {
  return run_on_text({"/bin/sh", "-c", command}, input, environment_with(variables), limit);
}

}  // namespace podrun::local
