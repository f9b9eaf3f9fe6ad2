// SPDX-License-Identifier: Apache-2.0
#include "podrun/local/process.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <random>
#include <thread>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include "podrun/report/outcome_words.hpp"

#include "support/at_the_descriptor_limit.hpp"
#include "support/run_coroutine.hpp"
#include "support/run_shell.hpp"
#include "support/stream_reader.hpp"
#include "support/temp_directory.hpp"

namespace podrun::local {
namespace {

using test::run_coroutine;
using Reader = test::StreamReader<link::Stream>;
using Texts = std::vector<std::string>;

struct Outcome {
  std::string out;
  std::string err;
  std::string end;
};

ProcessOptions program(Texts arguments) {
  return {.arguments = std::move(arguments), .environment = {"PATH=/usr/local/bin:/usr/bin:/bin"}};
}
ProcessOptions shell(const std::string& text) { return program({"sh", "-c", text}); }

/// Runs a child with this standard input; returns its output and its end.
Outcome run(const ProcessOptions& options, const std::string& input = {}) {
  return run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<Outcome> {
    const auto stream = spawn_process(executor, options);
    for (Chunk& chunk : to_chunks(input)) co_await stream->write(std::move(chunk));
    stream->close_write();
    Reader reader(*stream);
    co_await reader.to_end();
    co_return Outcome{reader.out(), reader.err(), reader.end()};
  });
}

std::string host_error(const ProcessOptions& options) {
  try {
    run(options);
  } catch (const link::HostError& error) {
    return report::describe(error.failure());
  }
  return "no error";
}

/// Appends every event of the stream to `told`.
asio::awaitable<void> describe_to_end(link::Stream& stream, std::vector<std::string>& told) {
  do {
    const link::StreamEvent event = co_await stream.next();
    told.push_back(test::describe(event));
  } while (told.back() != "closed");
}

pid_t pid_in(const std::string& text) { return static_cast<pid_t>(std::stol(text)); }
bool exists(pid_t pid) { return std::filesystem::exists("/proc/" + std::to_string(pid)); }

TEST(Process, MayBeStartedLaterWhereTooManyFilesAreOpen) {
  run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    // asio and UBSan have their descriptors before: these need some when they first see a reactor, or a type.
    const auto first = spawn_process(executor, shell("true"));
    EXPECT_THROW(spawn_process(executor, {.arguments = {"/no/such/program"}}), link::HostError);
    const test::AtTheDescriptorLimit limit;
    try {
      spawn_process(executor, shell("true"));
      ADD_FAILURE() << "it was started";
    } catch (const link::HostError& error) {
      EXPECT_EQ(error.failure().detail, "cannot make a pipe: Too many open files");
      EXPECT_EQ(error.failure().retry, link::Retry::may_help);
    }
    co_return;
  });
}

TEST(Process, TellsOutputsAndExitThenCloses) {
  const Outcome outcome = run(shell("echo out; echo err >&2; exit 42"));
  EXPECT_EQ(outcome.out, "out\n");
  EXPECT_EQ(outcome.err, "err\n");
  EXPECT_EQ(outcome.end, "exit 42, closed");
}

TEST(Process, TellsTheSignal) { EXPECT_EQ(run(shell("kill -9 $$")).end, "signal 9, closed"); }

TEST(Process, TellsTheSignalOfATransportCommandAsAFailure) {
  TransportCommands transports;
  ProcessOptions options = shell("kill -15 $$");
  options.transports = &transports;
  EXPECT_EQ(run(options).end, "connection: its command was killed by signal 15");
}

TEST(Process, GivesEveryByteOfBothStreams) {
  std::mt19937 random(1);
  const test::TempDirectory directory;
  std::string out(5'000'000, '\0');
  std::string err(3'000'000, '\0');
  for (std::string* bytes : {&out, &err})
    std::generate(bytes->begin(), bytes->end(), [&] { return static_cast<char>(random()); });
  directory.write("out", out);
  directory.write("err", err);
  ProcessOptions options = shell("cat err >&2 & cat out; wait");
  options.directory = directory.path();
  const Outcome outcome = run(options);
  EXPECT_TRUE(outcome.out == out);
  EXPECT_TRUE(outcome.err == err);
  EXPECT_EQ(outcome.end, "exit 0, closed");
}

TEST(Process, TakesEveryByteOfStandardInput) {
  std::mt19937 random(2);
  std::string input(60'000, '\0');
  std::generate(input.begin(), input.end(), [&] { return static_cast<char>(random()); });
  EXPECT_TRUE(run(program({"cat"}), input).out == input);
}

TEST(Process, GivesOutputAfterTheExit) {
  const Outcome outcome = run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<Outcome> {
    const auto stream = spawn_process(executor, shell("exec 3<&0; cat <&3 & echo first"));
    Reader reader(*stream);
    co_await reader.until_exit();
    EXPECT_EQ(reader.end(), "exit 0");
    co_await stream->write(Chunk("second"));
    stream->close_write();
    co_await reader.to_end();
    co_return Outcome{reader.out(), reader.err(), reader.end()};
  });
  EXPECT_EQ(outcome.out, "first\nsecond");
  EXPECT_EQ(outcome.end, "exit 0, closed");
}

TEST(Process, TellsWhatAChildPrintedBeforeItsEnd) {
  run_coroutine([](asio::any_io_executor executor) -> asio::awaitable<void> {
    const auto stream = spawn_process(executor, shell("echo $$; read line; echo out; echo err >&2; exit 3"));
    Reader reader(*stream);
    co_await reader.until("\n");
    const pid_t pid = pid_in(reader.out());
    std::vector<std::string> told;
    asio::co_spawn(executor, describe_to_end(*stream, told), asio::detached);
    co_await asio::post(executor, asio::use_awaitable);  // it waits for both outputs now
    co_await stream->write(Chunk("\n"));
    siginfo_t ended{};
    EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT), 0);  // all happens at once
    EXPECT_TRUE(co_await test::eventually(executor, [&] { return told.size() == 4; }));
    EXPECT_EQ(told, (std::vector<std::string>{"output", "output", "exit 3", "closed"}));
  });
}

TEST(Process, PassesArgumentsAndEnvironmentAsTheyAre) {
  const Texts words = test::awkward_words(8);
  Texts arguments = {"printf", "%s\\0"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  EXPECT_EQ(test::split_at_nul(run(program(arguments)).out), words);

  ProcessOptions options{.arguments = {"env", "-0"}, .environment = {"A=a\n'b", "B=\xff", "C="}};
  EXPECT_EQ(test::split_at_nul(run(options).out), options.environment);
}

TEST(Process, StartsInItsDirectory) {
  ProcessOptions options = shell("pwd -P");
  options.directory = "/usr/bin";
  EXPECT_EQ(run(options).out, "/usr/bin\n");
  options.directory.clear();
  EXPECT_EQ(run(options).out, std::filesystem::current_path().string() + '\n');
}

TEST(Process, LeadsASessionOfItsOwn) {
  const Outcome outcome = run(shell("echo $$ $(cut -d ' ' -f 5,6 /proc/$$/stat)"));
  const std::string pid = outcome.out.substr(0, outcome.out.find(' '));
  EXPECT_EQ(outcome.out, pid + ' ' + pid + ' ' + pid + '\n');
}

TEST(Process, HasDefaultSignalsAndNoneBlocked) {
  const auto pipe_before = std::signal(SIGPIPE, SIG_IGN);
  const auto user_before = std::signal(SIGUSR1, SIG_IGN);
  sigset_t blocked;
  sigset_t mask_before;
  ::sigemptyset(&blocked);
  for (const int signal : {SIGUSR2, SIGTERM, SIGCHLD}) ::sigaddset(&blocked, signal);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &mask_before);
  const Outcome outcome = run(program({"sed", "-n", "s/^Sig\\(Blk\\|Ign\\):\t//p", "/proc/self/status"}));
  ::pthread_sigmask(SIG_SETMASK, &mask_before, nullptr);
  (void)std::signal(SIGPIPE, pipe_before);
  (void)std::signal(SIGUSR1, user_before);
  constexpr unsigned long long kOfGlibc =
      0x1'8000'0000;  // 32 and 33, which posix_spawn itself sets to ignore
  std::size_t blocked_size = 0;
  EXPECT_EQ(std::stoull(outcome.out, &blocked_size, 16), 0U);
  EXPECT_EQ(std::stoull(outcome.out.substr(blocked_size), nullptr, 16) & ~kOfGlibc, 0U) << outcome.out;
}

TEST(Process, InheritsNoDescriptorButItsThree) {
  const int lowest = ::open("/dev/null", O_RDONLY);
  const int high = ::fcntl(lowest, F_DUPFD, 77);
  const int closed_on_exec = ::fcntl(lowest, F_DUPFD_CLOEXEC, 88);
  const Outcome outcome =
      run(shell("i=0; while [ $i -lt 256 ]; do [ -L /proc/$$/fd/$i ] && echo $i; i=$((i+1)); done"));
  for (const int descriptor : {lowest, high, closed_on_exec}) ::close(descriptor);
  EXPECT_EQ(outcome.out, "0\n1\n2\n");
}

TEST(Process, HasItsOwnDescriptorLimit) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  ProcessOptions options =
      program({"sh", "-c", "ulimit -S -n; ulimit -H -n; printf '%s,' \"$@\"", "sh", "a b", "'", ""});
  options.descriptor_limit = 123;
  options.directory = "/usr";
  EXPECT_EQ(run(options).out, "123\n" + std::to_string(limit.rlim_max) + "\na b,',,");
}

TEST(Process, NamesAProgramThatIsMissing) {
  EXPECT_EQ(host_error(program({"no-such-program", "x"})),
            "starting: cannot run \"no-such-program\": No such file or directory");
  EXPECT_EQ(host_error(program({"/etc/passwd"})), "starting: cannot run \"/etc/passwd\": Permission denied");
}

/// Stops the stream from another coroutine once the other one waits.
asio::awaitable<void> stop_soon(std::shared_ptr<link::Stream> stream) {
  asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::milliseconds(20));
  co_await timer.async_wait(asio::use_awaitable);
  stream->stop({.cause = link::Cause::cancelled});
}

TEST(Process, EndsAPendingNextWhenStopped) {
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    const auto stream = spawn_process(executor, program({"cat"}));
    asio::co_spawn(executor, stop_soon(stream), asio::detached);
    Reader reader(*stream);
    co_await reader.to_end();
    EXPECT_EQ(reader.end(), "cancelled");
    stream->stop({.cause = link::Cause::abandoned});
    EXPECT_EQ(test::describe(co_await stream->next()), "cancelled");
    EXPECT_FALSE(co_await stream->write(Chunk("x")));
  });
}

TEST(Process, EndsAPendingWriteWhenStopped) {
  TransportCommands transports;
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    ProcessOptions options = program({"sleep", "1000"});
    options.transports = &transports;
    const auto stream = spawn_process(executor, options);
    asio::co_spawn(executor, stop_soon(stream), asio::detached);
    std::size_t written = 0;
    while (co_await stream->write(Chunk(std::string(Chunk::kMaxSize, 'x')))) ++written;
    EXPECT_GT(written, 0U);
    EXPECT_LE(written * Chunk::kMaxSize, 1024U * 1024);
    EXPECT_EQ(test::describe(co_await stream->next()), "cancelled");
  });
}

TEST(Process, RefusesAWriteThatNobodyReads) {
  TransportCommands transports;
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    const auto pipe_before = std::signal(SIGPIPE, SIG_IGN);  // as main does
    ProcessOptions options = shell("exec <&-; echo closed; sleep 1000");
    options.transports = &transports;
    const auto stream = spawn_process(executor, options);
    Reader reader(*stream);
    co_await reader.until("closed\n");
    EXPECT_FALSE(co_await stream->write(Chunk("x")));
    (void)std::signal(SIGPIPE, pipe_before);
    stream->stop({.cause = link::Cause::cancelled});
  });
}

TEST(Process, EndsAWriteWhenItsStandardInputIsClosed) {
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    const auto stream = spawn_process(executor, program({"cat"}));
    stream->close_write();
    EXPECT_FALSE(co_await stream->write(Chunk("x")));
    Reader reader(*stream);
    co_await reader.to_end();
    EXPECT_EQ(reader.end(), "exit 0, closed");
  });
}

TEST(Process, IsReapedWhenAbandoned) {
  TransportCommands transports;
  for (TransportCommands* const noted_in : {static_cast<TransportCommands*>(nullptr), &transports}) {
    run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
      // A program ends when its input does; a transport command is sent TERM and may not even read.
      ProcessOptions options = shell(noted_in ? "echo $$; exec sleep 1000" : "echo $$; exec cat");
      options.transports = noted_in;
      auto stream = spawn_process(executor, options);
      Reader reader(*stream);
      co_await reader.until("\n");
      const pid_t pid = pid_in(reader.out());
      EXPECT_TRUE(exists(pid));
      stream.reset();
      EXPECT_TRUE(co_await test::eventually(executor, [&] { return !exists(pid); }));
    });
  }
}

/// The text prints the pid of a process that ignores TERM.
void expect_killed_when_abandoned(const std::string& text) {
  TransportCommands transports;
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    ProcessOptions options = shell(text);
    options.transports = &transports;
    auto stream = spawn_process(executor, options);
    Reader reader(*stream);
    co_await reader.until("\n");
    const pid_t pid = pid_in(reader.out());
    stream.reset();
    EXPECT_TRUE(co_await test::eventually(executor, [&] { return !exists(pid); }));
  });
}

TEST(Process, KillsATransportCommandThatIgnoresTermWhenAbandoned) {
  expect_killed_when_abandoned("trap '' TERM; echo $$; sleep 1000");
}

TEST(Process, KillsChildrenOfATransportCommandThatIgnoreTerm) {
  expect_killed_when_abandoned(
      "trap 'exit 143' TERM; sh -c 'trap \"\" TERM; echo $$; sleep 1000' & while :; do wait; done");
}

/// `patience` for two transport commands that were abandoned: one ends by TERM after a moment, one does not.
/// Whether the first one could write its file.
bool first_can_finish(std::chrono::milliseconds patience) {
  const test::TempDirectory directory;
  TransportCommands transports;
  asio::io_context context;  // does not run any more when podrun leaves
  std::vector<pid_t> pids;
  const Texts at_term = {"sleep 0.1; touch " + directory.path("said") + "; exit", ""};
  for (const std::string& text : at_term) {
    ProcessOptions options = shell("trap '" + text + "' TERM; sleep 1000 & echo $$; wait");
    options.transports = &transports;
    const auto stream = spawn_process(context.get_executor(), options);
    Reader reader(*stream);
    asio::co_spawn(context, reader.until("\n"), asio::detached);
    while (reader.out().empty()) context.run_one();
    pids.push_back(pid_in(reader.out()));
  }
  transports.kill(patience);
  for (const pid_t pid : pids) {
    ::waitpid(pid, nullptr, 0);
    EXPECT_FALSE(exists(pid));
  }
  return directory.has("said");
}

TEST(Process, KillsTheTransportCommandsThatAreLeftAtTheEnd) {
  EXPECT_TRUE(first_can_finish(std::chrono::milliseconds(1000)));
  EXPECT_FALSE(first_can_finish(std::chrono::milliseconds(0)));
}

TEST(Process, KillsOnlyTheTransportCommandsOfOneRun) {
  TransportCommands ours;
  TransportCommands others;
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    ProcessOptions options = shell("echo $$; exec sleep 1000");
    options.transports = &ours;
    const auto stream = spawn_process(executor, options);
    Reader reader(*stream);
    co_await reader.until("\n");
    others.kill(std::chrono::milliseconds(0));
    EXPECT_TRUE(exists(pid_in(reader.out())));
    ours.kill(std::chrono::milliseconds(0));
    co_await reader.to_end();
    EXPECT_EQ(reader.end(), "connection: its command was killed by signal 9");
  });
}

TEST(Process, ReadsOnSeveralThreadsAtOnce) {
  const auto expect_own_bytes = [](char byte) {
    const Outcome outcome = run(shell("head -c 20000000 /dev/zero | tr '\\0' " + std::string(1, byte)));
    EXPECT_EQ(outcome.out.size(), 20'000'000U);
    EXPECT_EQ(outcome.out.find_first_not_of(byte), std::string::npos);
  };
  std::thread other([&] { expect_own_bytes('a'); });
  expect_own_bytes('b');
  other.join();
}

TEST(Process, LetsManyRunAtOnce) {
  constexpr int kMany = 40;
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    std::vector<std::shared_ptr<link::Stream>> streams;
    for (int i = 0; i < kMany; ++i)
      streams.push_back(spawn_process(executor, shell("cat; exit " + std::to_string(i))));
    for (const auto& stream : streams) {
      co_await stream->write(Chunk("x"));
      stream->close_write();
    }
    for (int i = 0; i < kMany; ++i) {
      Reader reader(*streams[static_cast<std::size_t>(i)]);
      co_await reader.to_end();
      EXPECT_EQ(reader.out(), "x");
      EXPECT_EQ(reader.end(), "exit " + std::to_string(i) + ", closed");
    }
  });
}

}  // namespace
}  // namespace podrun::local
