// SPDX-License-Identifier: Apache-2.0
// Runs git: once for an answer, or as a process that is asked about many paths.
#include "podrun/transfer/git.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/base/text.hpp"
#include "podrun/local/spawn.hpp"
#include "podrun/transfer/scripts.hpp"

namespace podrun::transfer {
namespace {

/// The fields of an answer: source, line, pattern, path. See git-check-ignore(1), "OUTPUT"
constexpr int kPatternField = 2;
constexpr int kFields = 4;

[[noreturn]] void fail_to_run(int error) {
  throw UsageError(
      fmt::format("push: cannot run git: {}", lower_first(std::generic_category().message(error))));
}

/// True if git may see this variable: hides those by which a hook or an alias selects a repository.
bool is_passed_on(std::string_view variable) {
  constexpr std::array<std::string_view, 8> kSettings = {
      "GIT_CONFIG_", "GIT_EXEC_PATH=", "GIT_CEILING_", "GIT_DISCOVERY_",
      "GIT_SSH",     "GIT_ASKPASS=",   "GIT_SSL_",     "GIT_PROXY_"};
  if (variable.starts_with("LC_ALL=")) return false;
  if (!variable.starts_with("GIT_")) return true;
  for (const std::string_view setting : kSettings) {
    if (variable.starts_with(setting)) return true;
  }
  return false;
}

/// Adds values after those that the user's environment has, see GIT_CONFIG_COUNT in git-config(1).
void add_configuration(std::vector<std::string>& environment, const std::vector<GitOption>& options) {
  constexpr std::string_view kCount = "GIT_CONFIG_COUNT=";
  if (options.empty()) return;
  std::size_t count = 0;
  for (char** entry = ::environ; entry && *entry; ++entry) {
    const std::string_view variable = *entry;
    if (variable.starts_with(kCount)) count = to_number(variable.substr(kCount.size())).value_or(0);
  }
  for (const GitOption& option : options) {
    environment.push_back(fmt::format("GIT_CONFIG_KEY_{}={}", count, option.name));
    environment.push_back(fmt::format("GIT_CONFIG_VALUE_{}={}", count, option.value));
    ++count;
  }
  environment.push_back(fmt::format("{}{}", kCount, count));
}

std::vector<std::string> git_environment(const GitSettings& settings = {}) {
  std::vector<std::string> environment = {"GIT_FLUSH=1", "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0",
                                          "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"};
  environment.insert(environment.end(), settings.variables.begin(), settings.variables.end());
  add_configuration(environment, settings.configuration);
  const std::vector<std::string> own = environment;
  for (char** entry = ::environ; entry && *entry; ++entry) {
    const std::string_view variable = *entry;
    const std::string_view name = variable.substr(0, variable.find('=') + 1);
    const bool is_replaced =
        std::ranges::any_of(own, [name](const std::string& each) { return each.starts_with(name); });
    if (is_passed_on(variable) && !is_replaced) environment.emplace_back(variable);
  }
  return environment;
}

/// `words`: git, or what starts it with the rest of the words.
local::Spawned start_git(std::vector<std::string> words, const std::vector<std::string>& arguments,
                         std::vector<std::string> environment, const std::array<int, 3>& descriptors) {
  words.insert(words.end(), {"--no-pager", "-c", "core.fsmonitor="});
  words.insert(words.end(), arguments.begin(), arguments.end());
  return local::spawn(
      {.arguments = std::move(words), .environment = std::move(environment), .descriptors = descriptors});
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string read_from_start(int descriptor) {
  ::lseek(descriptor, 0, SEEK_SET);
  std::optional<std::string> text = read_whole(descriptor, std::numeric_limits<std::size_t>::max());
  if (!text) fail_to_run(errno);
  return *std::move(text);
}

/// Waits for errors of git, for its end, for its silence, and for the time of the notice.
class ErrorReader {
 public:
  ErrorReader(int descriptor, pid_t git, const GitSettings& settings)
      : descriptor_(descriptor),
        process_(static_cast<int>(::syscall(SYS_pidfd_open, git, 0))),
        settings_(settings) {}

  /// The last part of it, since a server chooses how much there is. Nothing after a silence. A helper that
  /// git leaves in the background may keep the pipe open: when git has ended, only what it holds is read.
  std::optional<std::string> read() {
    constexpr std::size_t kKept = 64 * 1024;
    std::string said;
    std::array<char, kKept> buffer;
    for (bool has_ended = false; !has_ended;) {
      std::array<pollfd, 2> entries{{{descriptor_, POLLIN, 0}, {process_.get(), POLLIN, 0}}};
      if (::poll(entries.data(), entries.size(), milliseconds_left()) <= 0) {
        give_notice();
        if (settings_.silence && Clock::now() >= last_ + *settings_.silence) return std::nullopt;
        continue;
      }
      has_ended = entries[1].revents != 0;
      if (entries[0].revents == 0) continue;
      const ssize_t count = ::read(descriptor_, buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return said;
      last_ = Clock::now();
      give_notice();
      said.append(buffer.data(), static_cast<std::size_t>(count));
      if (said.size() > kKept) said.erase(0, said.size() - kKept);
    }
    return said;
  }

 private:
  using Clock = std::chrono::steady_clock;

  int milliseconds_left() const {
    std::optional<Clock::time_point> next;
    if (settings_.silence) next = last_ + *settings_.silence;
    if (!is_told_ && settings_.notice) {
      const Clock::time_point notice = begin_ + settings_.notice_after;
      next = next ? std::min(*next, notice) : notice;
    }
    if (!next) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now());
    return std::max(0, static_cast<int>(left.count()));
  }
  void give_notice() {
    if (is_told_ || !settings_.notice || Clock::now() < begin_ + settings_.notice_after) return;
    is_told_ = true;
    settings_.notice();
  }

  int descriptor_;
  Descriptor process_;  ///< not open before Linux 5.3
  const GitSettings& settings_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_ = begin_;  ///< of what came
  bool is_told_ = false;
};

/// True for a line that is no reason: what the server reports of its work, progress, warnings.
bool is_remark(std::string_view line) {
  constexpr std::array<std::string_view, 5> kRemarks = {"remote:", "Cloning into ", "From ",
                                                        "warning: ", "Warning: "};
  return line.empty() || line.find("% (") != line.npos ||
         std::ranges::any_of(kRemarks, [line](std::string_view each) { return line.starts_with(each); });
}

/// The line that begins with `fatal: `, or the first one. When ssh or the server has failed, the reason is in
/// the line before it. Lines of progress end with `\r`.
std::string find_reason(std::string_view said) {
  constexpr std::string_view kFatal = "fatal: ";
  std::string_view first;
  std::string_view before;
  while (!said.empty()) {
    std::string_view rest = take_part(said, '\n');
    while (!rest.empty()) {
      const std::string_view line = trim_space(take_part(rest, '\r'));
      if (line.starts_with("fatal: Could not read from remote repository") && !before.empty())
        return std::string(before);
      if (line.starts_with(kFatal)) return std::string(line.substr(kFatal.size()));
      if (is_remark(line)) continue;
      if (first.empty()) first = line;
      before = line;
    }
  }
  return std::string(first);
}

}  // namespace

GitRun run_git(const std::vector<std::string>& arguments, const GitSettings& settings) {
  constexpr int kNotFound = 127;  // of a shell
  const Descriptor output(::memfd_create("output", MFD_CLOEXEC));
  std::array<int, 2> watch{-1, -1};
  std::array<int, 2> ends{-1, -1};
  if (!output.is_open() || ::pipe2(watch.data(), O_CLOEXEC) != 0 || ::pipe2(ends.data(), O_CLOEXEC) != 0)
    fail_to_run(errno);
  Descriptor watched(watch[0]);
  Descriptor watcher(watch[1]);
  const Descriptor errors(ends[0]);
  Descriptor theirs(ends[1]);
  const local::Spawned child =
      start_git({"/bin/sh", "-c", std::string(kGitScript), "sh"}, arguments, git_environment(settings),
                {watched.get(), output.get(), theirs.get()});
  watched.reset();
  theirs.reset();
  if (child.error != 0) return {.error = child.error};
  const std::optional<std::string> said = ErrorReader(errors.get(), child.pid, settings).read();
  if (!said) watcher.reset();
  GitRun run;
  run.status = wait_for(child.pid);
  if (watcher.is_open()) write_whole(watcher.get(), "\n");
  if (run.status == kNotFound) return {.error = ENOENT};
  run.output = read_from_start(output.get());
  run.message = said ? find_reason(*said)
                     : fmt::format("no answer for {} s",
                                   std::chrono::round<std::chrono::seconds>(*settings.silence).count());
  return run;
}

PathCheck::PathCheck(const std::vector<std::string>& options, std::string_view if_missing) {
  // A socket rather than pipes, since MSG_NOSIGNAL suppresses SIGPIPE if git has ended.
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) fail_to_run(errno);
  socket_.reset(ends[0]);
  const Descriptor theirs(ends[1]);
  const Descriptor null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!null.is_open()) fail_to_run(errno);
  std::vector<std::string> arguments = options;
  arguments.insert(arguments.end(),
                   {"check-ignore", "--no-index", "--stdin", "--verbose", "--non-matching", "-z"});
  const local::Spawned child =
      start_git({"git"}, arguments, git_environment(), {theirs.get(), theirs.get(), null.get()});
  if (child.error == ENOENT) throw UsageError(std::string(if_missing));
  if (child.error != 0) fail_to_run(child.error);
  pid_ = child.pid;
}

PathCheck::~PathCheck() {
  socket_.reset();
  if (pid_ != 0) wait_for(pid_);
}

std::vector<Match> PathCheck::ask(const std::vector<std::string>& paths) {
  std::string request;
  for (const std::string& path : paths) {
    request += "./";  // a path that begins with ":" would be a pathspec, see gitglossary(7)
    request += path;
    request += '\0';
  }
  std::string_view unsent = request;
  std::vector<Match> answers;
  answers.reserve(paths.size());
  while (answers.size() < paths.size()) {
    const ssize_t sent =
        unsent.empty() ? 0 : ::send(socket_.get(), unsent.data(), unsent.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) unsent.remove_prefix(static_cast<std::size_t>(sent));
    // If sending fails, so does receiving.
    pollfd entry{socket_.get(), static_cast<short>(unsent.empty() ? POLLIN : POLLIN | POLLOUT), 0};
    if (::poll(&entry, 1, -1) > 0 && (entry.revents & ~POLLOUT) != 0) receive(answers);
  }
  return answers;
}

void PathCheck::receive(std::vector<Match>& answers) {
  std::array<char, 64 * 1024> buffer;
  const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count > 0) {
    take({buffer.data(), static_cast<std::size_t>(count)}, answers);
  } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
    throw UsageError("push: git failed to say what is ignored (try again)");
  }
}

void PathCheck::take(std::string_view bytes, std::vector<Match>& answers) {
  while (!bytes.empty()) {
    if (field_ == kPatternField && match_ == Match::none && bytes.front() != '\0')
      match_ = bytes.front() == '!' ? Match::included : Match::ignored;
    const std::size_t end = bytes.find('\0');
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    if (++field_ < kFields) continue;
    answers.push_back(match_);
    match_ = Match::none;
    field_ = 0;
  }
}

}  // namespace podrun::transfer
