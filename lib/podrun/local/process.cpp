// SPDX-License-Identifier: Apache-2.0
// A child process as a Stream: pipes, exit status by pidfd, and TERM then KILL for a child that is no longer
// needed.
#include "podrun/local/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <system_error>

#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <fmt/format.h>

#include "podrun/base/descriptor.hpp"
#include "podrun/base/error.hpp"
#include "podrun/base/event.hpp"
#include "podrun/local/spawn.hpp"

namespace podrun::local {
namespace {

using AsyncDescriptor = asio::posix::stream_descriptor;

/// Time from TERM to KILL for an abandoned transport command.
constexpr std::chrono::seconds kGrace{2};

[[noreturn]] void fail(const std::string& doing, int error) {
  throw link::HostError({link::Stage::starting_program,
                         is_exhaustion(error) ? link::Cause::local_limit : link::Cause::not_startable,
                         fmt::format("{}: {}", doing, std::generic_category().message(error)),
                         is_exhaustion(error) ? link::Retry::may_help : link::Retry::no});
}

/// A pipe between podrun, whose end does not block, and the child.
struct ChildPipe {
  enum class Ours { read, write };

  ChildPipe(const asio::any_io_executor& executor, Ours which) : ours(executor), theirs(executor) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("cannot make a pipe", errno);
    const std::size_t mine = which == Ours::read ? 0 : 1;
    // Adopt both before a check, so that neither end stays open.
    const std::error_code ours_refused = adopt(ours, ends[mine]);
    const std::error_code theirs_refused = adopt(theirs, ends[1 - mine]);
    if (ours_refused || theirs_refused)
      fail("cannot use a pipe", (ours_refused ? ours_refused : theirs_refused).value());
    std::error_code ignored;  // fcntl(2) does not fail here
    ours.native_non_blocking(true, ignored);
  }

  AsyncDescriptor ours;
  AsyncDescriptor theirs;
};

/// The child's three pipes and its pidfd. The stream and each pending wait hold it, so the child is always
/// reaped.
class Process : public std::enable_shared_from_this<Process> {
 public:
  Process(const asio::any_io_executor& executor, const ProcessOptions& options)
      : input_(executor),
        outputs_{Source(executor), Source(executor)},
        pidfd_(executor),
        transports_(options.transports),
        kill_timer_(executor),
        readable_(executor),
        writable_(executor) {
    ChildPipe in(executor, ChildPipe::Ours::write);
    ChildPipe out(executor, ChildPipe::Ours::read);
    ChildPipe err(executor, ChildPipe::Ours::read);
    const Spawned child = spawn(
        {.arguments = options.arguments,
         .environment = options.environment,
         .directory = options.directory,
         .descriptors = {in.theirs.native_handle(), out.theirs.native_handle(), err.theirs.native_handle()},
         .new_session = true});
    if (child.error != 0) fail(fmt::format("cannot run \"{}\"", options.arguments[0]), child.error);
    pid_ = child.pid;
    const long pidfd = ::syscall(SYS_pidfd_open, pid_, 0);
    const int error = pidfd < 0 ? errno : adopt(pidfd_, static_cast<int>(pidfd)).value();
    if (error != 0) {
      ::kill(-pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
      fail("cannot watch a child", error);
    }
    input_ = std::move(in.ours);
    outputs_[0].descriptor = std::move(out.ours);
    outputs_[1].descriptor = std::move(err.ours);
  }

  void watch() {
    if (transports_) transports_->add(pid_);
    pidfd_.async_wait(AsyncDescriptor::wait_read,
                      [self = shared_from_this()](const std::error_code&) { self->reap(); });
  }

  asio::awaitable<link::StreamEvent> next() {
    for (;;) {
      if (failure_) co_return *failure_;
      if (auto output = read()) co_return std::move(*output);
      // The exit comes after the child's output: epoll reports events in order, so its pipes are already
      // readable.
      if (end_ && !end_told_) {
        end_told_ = true;
        co_return std::visit([](auto end) { return link::StreamEvent(end); }, *end_);
      }
      if (end_told_ && !outputs_[0].descriptor.is_open() && !outputs_[1].descriptor.is_open())
        co_return link::Closed{};
      co_await readable_.wait();
    }
  }

  asio::awaitable<bool> write(Chunk chunk) {
    std::string_view rest = chunk.bytes();
    while (!rest.empty()) {
      if (!input_.is_open()) co_return false;
      const ssize_t written = ::write(input_.native_handle(), rest.data(), rest.size());
      if (written >= 0) {
        rest.remove_prefix(static_cast<std::size_t>(written));
      } else if (errno == EAGAIN) {
        input_.async_wait(AsyncDescriptor::wait_write,
                          [self = shared_from_this()](const std::error_code&) { self->writable_.notify(); });
        co_await writable_.wait();
      } else if (errno != EINTR) {
        co_return false;
      }
    }
    co_return true;
  }

  void close_write() {
    close(input_);
    writable_.notify();
  }

  void stop(link::Failure failure) {
    if (!failure_) failure_ = std::move(failure);
    if (transports_ && !end_) terminate();
    close_write();
    for (Source& source : outputs_) close(source.descriptor);
    readable_.notify();
  }

 private:
  struct Source {
    explicit Source(const asio::any_io_executor& executor) : descriptor(executor) {}
    AsyncDescriptor descriptor;
    bool ready = true;  ///< try a read; if false, a wait is pending
  };

  static void close(AsyncDescriptor& descriptor) {
    std::error_code ignored;
    descriptor.close(ignored);
  }

  void terminate() {
    ::kill(-pid_, SIGTERM);
    kill_timer_.expires_after(kGrace);
    is_told_to_end_ = true;
    kill_timer_.async_wait([self = shared_from_this()](const std::error_code& error) {
      if (error) return;
      ::kill(-self->pid_, SIGKILL);
      self->is_told_to_end_ = false;
      if (self->has_exited_) self->reap();
    });
  }

  void reap() {
    has_exited_ = true;
    // Its children may ignore TERM. Until KILL is sent, the unreaped zombie keeps the group's number in use.
    if (is_told_to_end_) return;
    int status = 0;
    if (::waitpid(pid_, &status, 0) == pid_) {
      if (WIFSIGNALED(status) && transports_) {
        end_ = link::Failure{link::Stage::connection, link::Cause::transport_ended,
                             fmt::format("its command was killed by signal {}", WTERMSIG(status))};
      } else if (WIFSIGNALED(status)) {
        end_ = link::Signaled{WTERMSIG(status)};
      } else {
        end_ = link::Exited{WEXITSTATUS(status)};
      }
    }
    if (transports_) transports_->remove(pid_);
    kill_timer_.cancel();
    close(pidfd_);
    readable_.notify();
  }

  /// Output of one of the two streams, in turn; none if both would block or have ended.
  std::optional<link::Received> read() {
    for (std::size_t turn = 0; turn < kStreams; ++turn) {
      first_ = 1 - first_;
      if (auto output = read_from(first_)) return output;
    }
    return std::nullopt;
  }
  std::optional<link::Received> read_from(std::size_t index) {
    std::array<char, Chunk::kMaxSize> buffer;  // on the stack, so that no child keeps one while it waits
    Source& source = outputs_[index];
    while (source.ready && source.descriptor.is_open()) {
      const ssize_t count = ::read(source.descriptor.native_handle(), buffer.data(), buffer.size());
      if (count > 0) {
        return link::Received{index == 0 ? StreamId::out : StreamId::err,
                              Chunk({buffer.data(), static_cast<std::size_t>(count)})};
      }
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) {
        wait_for(source);
      } else {
        close(source.descriptor);
      }
    }
    return std::nullopt;
  }
  void wait_for(Source& source) {
    source.ready = false;
    source.descriptor.async_wait(AsyncDescriptor::wait_read,
                                 [self = shared_from_this(), &source](const std::error_code&) {
                                   source.ready = true;
                                   self->readable_.notify();
                                 });
  }

  AsyncDescriptor input_;
  std::array<Source, kStreams> outputs_;
  AsyncDescriptor pidfd_;
  TransportCommands* transports_;  ///< null: it is no transport command
  asio::steady_timer kill_timer_;
  Event readable_;
  Event writable_;
  pid_t pid_ = 0;
  bool is_told_to_end_ = false;  ///< TERM was sent, KILL follows
  bool has_exited_ = false;
  std::size_t first_ = 1;
  std::optional<std::variant<link::Exited, link::Signaled, link::Failure>> end_;
  bool end_told_ = false;
  std::optional<link::Failure> failure_;
};

class ProcessStream : public link::Stream {
 public:
  explicit ProcessStream(std::shared_ptr<Process> process) : process_(std::move(process)) {}
  ProcessStream(const ProcessStream&) = delete;
  ProcessStream& operator=(const ProcessStream&) = delete;
  ~ProcessStream() override { process_->stop({.cause = link::Cause::abandoned}); }

  asio::awaitable<link::StreamEvent> next() override { return process_->next(); }
  asio::awaitable<bool> write(Chunk chunk) override { return process_->write(std::move(chunk)); }
  void close_write() override { process_->close_write(); }
  void stop(link::Failure failure) override { process_->stop(std::move(failure)); }

 private:
  std::shared_ptr<Process> process_;
};

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

std::shared_ptr<link::Stream> spawn_process(const asio::any_io_executor& executor, ProcessOptions options) {
  if (options.descriptor_limit != 0) {  // posix_spawn cannot set a limit
    const std::vector<std::string> limited = {"/bin/sh", "-c", "ulimit -S -n \"$0\"; exec \"$@\"",
                                              std::to_string(options.descriptor_limit)};
    options.arguments.insert(options.arguments.begin(), limited.begin(), limited.end());
  }
  auto process = std::make_shared<Process>(executor, options);
  process->watch();
  return std::make_shared<ProcessStream>(std::move(process));
}

void TransportCommands::kill(std::chrono::milliseconds grace) {
  const Clock::time_point due = Clock::now() + grace;
  for (const pid_t pid : pids_) {
    wait_for_end(due, pid);
    ::kill(-pid, SIGKILL);  // also if it has ended: its children may still run
  }
  pids_.clear();
}

}  // namespace podrun::local
