// SPDX-License-Identifier: Apache-2.0
// The script itself, under each shell that may be a host's /bin/sh.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <limits.h>
#include <netinet/in.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <random>

#include <asio/detached.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/base/shell_quote.hpp"
#include "podrun/report/outcome_words.hpp"
#include "podrun/supervisor/supervised.hpp"

#include "support/run_coroutine.hpp"
#include "support/shell_link.hpp"
#include "support/stream_reader.hpp"

namespace podrun::supervisor {
namespace {

using test::eventually;
using test::run_coroutine;
using test::TestHost;
using Texts = std::vector<std::string>;
using Reader = test::StreamReader<Supervised>;
using testing::IsEmpty;

struct Outcome {
  std::string out;
  std::string err;
  std::string end;
};
Outcome outcome(const Reader& reader) { return {reader.out(), reader.err(), reader.end()}; }

/// The go text that runs sh text.
std::string sh(std::string_view text) { return "set -- /bin/sh -c " + shell_quote_in_line(text); }

asio::awaitable<Outcome> supervise(asio::any_io_executor executor, TestHost& host, std::string go) {
  const auto link = host.link(executor);
  Supervised supervised(executor, *link, host.supervision());
  co_await supervised.prepare({}, test::drop);
  supervised.go("", Chunk(std::string(go)));
  Reader reader(supervised);
  co_await reader.to_end();
  co_return outcome(reader);
}

void expect_nothing_left(const TestHost& host) {
  eventually([&] { return host.processes().empty(); });
  EXPECT_THAT(host.processes(), IsEmpty());
  EXPECT_TRUE(eventually([&] { return host.directory().empty(); })) << "the run's directory is left";
}

class Supervisor : public testing::TestWithParam<test::Shell> {
 protected:
  void TearDown() override { expect_nothing_left(host_); }

  Outcome run(const std::string& go) {
    return run_coroutine([&](asio::any_io_executor executor) { return supervise(executor, host_, go); });
  }
  std::string refusal_of(const std::string& directory, Texts start_with = {}) {
    host_.supervision().directory = directory;
    return run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<std::string> {
      const auto link = host_.link(executor, start_with);
      Supervised supervised(executor, *link, host_.supervision());
      try {
        co_await supervised.prepare({}, test::drop);
      } catch (const link::HostError& error) {
        co_return report::describe(error.failure());
      }
      co_return "ready";
    });
  }

  void add_preparation(std::string script, link::Stage stage = link::Stage::run_directory,
                       link::Cause cause = link::Cause::no_run_directory) {
    host_.supervision().preparations.push_back({stage, cause, Chunk(std::move(script))});
  }

  TestHost host_{GetParam()};
};
/// Not mksh, which now and then loses the signal that dismisses the watch.
std::vector<test::Shell> shells_that_work() {
  std::vector<test::Shell> shells = test::shells();
  std::erase_if(shells, [](const test::Shell& shell) { return shell.name == "mksh"; });
  return shells;
}
INSTANTIATE_TEST_SUITE_P(Shells, Supervisor, testing::ValuesIn(shells_that_work()), test::ShellName());

TEST_P(Supervisor, KeepsStreamsAndExitStatus) {
  const Outcome run = this->run(sh("echo out; echo err >&2; exit 42"));
  EXPECT_EQ(run.out, "out\n");
  EXPECT_EQ(run.err, "err\n");
  EXPECT_EQ(run.end, "exit 42, closed");
}

/// The IPv4 addresses of this machine's interfaces, without loopback.
Texts own_addresses() {
  Texts addresses;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return addresses;
  for (const ifaddrs* each = first; each; each = each->ifa_next) {
    if (!each->ifa_addr || each->ifa_addr->sa_family != AF_INET) continue;
    std::array<char, INET_ADDRSTRLEN> text{};
    const auto* address = reinterpret_cast<const sockaddr_in*>(each->ifa_addr);
    ::inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size());
    if (!std::string_view(text.data()).starts_with("127.")) addresses.emplace_back(text.data());
  }
  ::freeifaddrs(first);
  return addresses;
}

TEST_P(Supervisor, SaysHowTheHostCallsItselfIfAsked) {
  std::array<char, HOST_NAME_MAX + 1> name{};
  ASSERT_EQ(::gethostname(name.data(), name.size()), 0);
  for (const TellNames tell_names : {TellNames::yes, TellNames::no}) {
    host_.supervision().tell_names = tell_names;
    const Hello hello = run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<Hello> {
      const auto link = host_.link(executor);
      Supervised supervised(executor, *link, host_.supervision());
      Hello said = co_await supervised.prepare({}, test::drop);
      supervised.go(sh("true"), {});
      co_await Reader(supervised).to_end();
      co_return said;
    });
    if (tell_names == TellNames::no) {
      EXPECT_THAT(hello.names, IsEmpty());
    } else {
      EXPECT_THAT(hello.names, testing::Contains(std::string(name.data())));
      EXPECT_THAT(hello.names, testing::IsSupersetOf(own_addresses()));
    }
  }
}

TEST_P(Supervisor, KeepsADeathBySignalAsTheShellTellsIt) {
  const Outcome run = this->run(sh("kill -9 $$"));
  EXPECT_EQ(run.end, "exit 137, closed");
  EXPECT_EQ(run.out + run.err, "");
}

TEST_P(Supervisor, TellsTheStatusInTheOutputAndExitsWithZero) {
  const std::string command = "printf out; echo err >&2; (sleep 5; echo late) & exit 42";
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    const auto link = host_.link(executor);
    Supervision supervision = host_.supervision();
    supervision.exit_status = ExitStatus::in_output;
    const auto stream = co_await link->exec(supervisor_program(supervision, "n", sh(command)));
    test::StreamReader<link::Stream> reader(*stream);
    co_await reader.to_end();
    EXPECT_EQ(reader.end(), "exit 0, closed");
    EXPECT_EQ(reader.out(), "\npodrun1 n ready - - - - \nout~podrun1 n exit 42\nlate\n");
    EXPECT_EQ(reader.err(), "err\n");

    link->has_statuses_of_its_own = true;
    Supervised supervised(executor, *link, host_.supervision());
    co_await supervised.prepare({}, test::drop);
    supervised.go(sh(command), {});
    Reader taken(supervised);
    co_await taken.to_end();
    EXPECT_EQ(taken.out(), "outlate\n");
    EXPECT_EQ(taken.err(), "err\n");
    EXPECT_EQ(taken.end(), "exit 42, closed");
  });
}

TEST_P(Supervisor, ExitsWithZeroWhenNothingWasStarted) {
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    const auto link = host_.link(executor);
    Supervision supervision = host_.supervision();
    supervision.exit_status = ExitStatus::in_output;
    for (const char* directory : {"", "/no such"}) {
      supervision.directory = directory;
      const auto stream = co_await link->exec(supervisor_program(supervision, "n"));
      stream->close_write();
      test::StreamReader<link::Stream> reader(*stream);
      co_await reader.to_end();
      EXPECT_EQ(reader.end(), "exit 0, closed");
    }
  });
}

TEST_P(Supervisor, TellsACommandThatIsMissing) {
  const Outcome run = this->run("set -- no-such-program");
  EXPECT_EQ(run.end, "exit 127, closed");
  EXPECT_NE(run.err.find("no-such-program"), std::string::npos) << run.err;
}

TEST_P(Supervisor, GivesTheCommandAnEmptyStandardInputAndNoDescriptorOfItsOwn) {
  const Outcome run = this->run(sh(
      "/bin/cat; i=0; while [ $i -lt 32 ]; do [ -L /proc/$$/fd/$i ] && printf '%s ' $i; i=$((i+1)); done"));
  EXPECT_EQ(run.out, "0 1 2 ");
  EXPECT_EQ(run.end, "exit 0, closed");
}

TEST_P(Supervisor, GivesTheCommandDefaultSignalsAndNoVariableOfItsOwn) {
  const Outcome run = this->run("set -- sh -c " + shell_quote("grep SigIgn /proc/self/status; /usr/bin/env"));
  EXPECT_THAT(run.out, testing::MatchesRegex("SigIgn:\t0000000[01][08]0000000\n(.*\n)*"))
      << "32 and 33 are glibc's";
  EXPECT_NE(run.out.find("PODRUN_MARK=" + host_.supervision().mark), std::string::npos);
  EXPECT_EQ(run.out.find("\npodrun_"), std::string::npos) << run.out;
}

TEST_P(Supervisor, RunsWordsAndValuesOfAnyBytes) {
  Texts words = test::awkward_words(9);
  std::mt19937 random(9);
  const std::string value = test::random_text(random, 5000);
  Command command{Words{{"sh", "-c", "printf '%s\\0' \"$@\" \"$V\"", "sh"}}, {{"V", value}}};
  auto& all = std::get<Words>(command.what).words;
  all.insert(all.end(), words.begin(), words.end());
  words.push_back(value);
  const Outcome run = this->run(build_command(command).text);
  EXPECT_EQ(test::split_at_nul(run.out), words);
}

TEST_P(Supervisor, FeedsStandardInput) {
  host_.supervision().input = StandardInput::fed;
  std::mt19937 random(10);
  std::string input(300'000, '\0');
  std::generate(input.begin(), input.end(), [&] { return static_cast<char>(random()); });
  const Outcome run = run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<Outcome> {
    const auto link = host_.link(executor);
    Supervised supervised(executor, *link, host_.supervision());
    co_await supervised.prepare({}, test::drop);
    const std::shared_ptr<link::Stream> stream = co_await supervised.open_input();
    supervised.go("", Chunk(std::string("set -- /bin/cat")));
    Reader reader(supervised);
    const auto feed = [&]() -> asio::awaitable<void> {
      for (Chunk& chunk : to_chunks(input)) co_await stream->write(std::move(chunk));
      stream->close_write();
    };
    asio::co_spawn(executor, feed(), asio::detached);
    co_await reader.to_end();
    co_return outcome(reader);
  });
  EXPECT_TRUE(run.out == input);
  EXPECT_EQ(run.end, "exit 0, closed");
}

TEST_P(Supervisor, PutsFilesIntoTheRunsDirectory) {
  std::mt19937 random(11);
  const std::vector<RemoteFile> files = {{"a b", test::random_text(random, 100'000)}, {"empty", ""}};
  const Outcome run = run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<Outcome> {
    const auto link = host_.link(executor);
    Supervised supervised(executor, *link, host_.supervision());
    co_await supervised.prepare(files, test::drop);
    supervised.go(
        "", Chunk(std::string(
                "set -- sh -c 'PATH=/bin; ls -l \"$0\" | cut -c 1-10 >&2; cat \"$0\"/*' \"$podrun_dir\"")));
    Reader reader(supervised);
    co_await reader.to_end();
    co_return outcome(reader);
  });
  EXPECT_TRUE(run.out == files.front().content);
  EXPECT_EQ(run.err.substr(run.err.find('\n') + 1), "-rw-------\n-rw-------\n");
  EXPECT_EQ(run.end, "exit 0, closed");
}

TEST_P(Supervisor, StartsInTheDirectory) {
  host_.supervision().directory = "/usr/bin";
  EXPECT_EQ(run("set -- /bin/pwd").out, "/usr/bin\n");
  host_.supervision().directory = "~";
  EXPECT_EQ(run("set -- /bin/pwd").out, host_.directory().path() + '\n');
  host_.directory().write("-a b'/x", "");
  host_.supervision().directory = "~/..";
  EXPECT_EQ(run("set -- /bin/pwd -P").out,
            std::filesystem::path(host_.directory().path()).parent_path().string() + '\n');
}

TEST_P(Supervisor, RefusesADirectoryThatIsMissing) {
  EXPECT_EQ(refusal_of("~/no such"), "working directory: no such directory \"~/no such\"");
  EXPECT_EQ(refusal_of("/etc/passwd"), "working directory: no such directory \"/etc/passwd\"");
}

TEST_P(Supervisor, TakesAHomeDirectoryForMissingWhereThereIsNone) {
  const Texts without_home = {"/usr/bin/env", "-u", "HOME", "PATH=/bin"};
  EXPECT_EQ(refusal_of("~", without_home), "working directory: no such directory \"~\"");
  EXPECT_EQ(refusal_of("~/usr", without_home), "working directory: no such directory \"~/usr\"");
}

TEST_P(Supervisor, RefusesADirectoryThatItMayNotEnter) {
  const test::TempDirectory elsewhere;
  std::filesystem::create_directory(elsewhere.path("closed"));
  std::filesystem::permissions(elsewhere.path("closed"), std::filesystem::perms::none);
  Texts as_user;
  if (::getuid() == 0)
    as_user = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/env", "PATH=/bin"};
  EXPECT_EQ(refusal_of(elsewhere.path("closed"), as_user),
            fmt::format("working directory: cannot enter \"{}\"", elsewhere.path("closed")));
}

TEST_P(Supervisor, PreparesTheHostInOrder) {
  host_.supervision().directory = "/usr/bin";
  add_preparation("[ $PWD = /usr/bin ] && echo one >~/log");
  add_preparation("read podrun_word <~/log && [ $podrun_word = one ] && echo two >~/log\nls ~");
  add_preparation("read podrun_word <~/log && [ $podrun_word = two ] && rm ~/log");
  const Outcome run = this->run("set -- /bin/pwd");
  EXPECT_EQ(run.out + run.err, "/usr/bin\n");
  EXPECT_EQ(run.end, "exit 0, closed");
}

TEST_P(Supervisor, KeepsPreparationsAwayFromTheSupervisor) {
  add_preparation("read podrun_line; [ -z \"$podrun_line\" ]");
  add_preparation("cd /; set -- x; podrun_nonce=; podrun_line='go set -- no'; trap - TERM; exit 0");
  const Outcome run = this->run(sh("echo $PWD; exit 3"));
  EXPECT_NE(run.out, "/\n");
  EXPECT_EQ(run.end, "exit 3, closed");
}

TEST_P(Supervisor, IsNotReadyWhenAPreparationFails) {
  host_.supervision().run_directory = RunDirectory::yes;
  add_preparation("echo unimportant", link::Stage::clean_up, link::Cause::clean_up_failed);
  add_preparation("echo first; echo '/a  $HOME *' >&2; exit 7");
  add_preparation(": >~/not_run");
  EXPECT_EQ(refusal_of(""),
            "run directory: cannot make one in \"/a  $HOME *\", in /dev/shm or in the home directory");
}

TEST_P(Supervisor, IsNotReadyWhenAPreparationFailsWithoutWords) {
  add_preparation("false");
  EXPECT_EQ(refusal_of(""), "run directory: cannot make one");
}

TEST_P(Supervisor, CutsTheWordsOfAPreparation) {
  add_preparation(
      "podrun_x=x; while [ ${#podrun_x} -lt 30000 ]; do podrun_x=$podrun_x$podrun_x; done; echo $podrun_x; "
      "false",
      link::Stage::clean_up, link::Cause::clean_up_failed);
  EXPECT_EQ(refusal_of(""), "clean-up: " + std::string(1000, 'x'));
}

TEST_P(Supervisor, IsNotReadyWhileAPreparationRuns) {
  add_preparation(": >~/runs; until [ -e ~/over ]; do sleep 0.1; done; rm ~/runs ~/over");
  const link::Failure too_late{link::Stage::starting_shell, link::Cause::timed_out};
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    const auto link = host_.link(executor);
    Supervised supervised(executor, *link, host_.supervision());
    std::optional<link::Failure> failure;
    const auto prepare = [&]() -> asio::awaitable<void> {
      try {
        co_await supervised.prepare({}, test::drop);
      } catch (const link::HostError& error) {
        failure = error.failure();
      }
    };
    asio::co_spawn(executor, prepare(), asio::detached);
    EXPECT_TRUE(co_await eventually(executor, [&] { return host_.directory().has("runs"); }));
    EXPECT_FALSE(failure);
    supervised.stop(too_late);
    EXPECT_TRUE(co_await eventually(executor, [&] { return failure.has_value(); }));
    EXPECT_EQ(failure, too_late);
    host_.directory().write("over", "");
    EXPECT_TRUE(co_await eventually(executor, [&] { return host_.directory().empty(); }));
  });
}

TEST_P(Supervisor, StartsNothingWhenInputEndsBeforeGo) {
  host_.supervision().input = StandardInput::fed;
  const std::vector<RemoteFile> files = {{"file", "x"}};
  const std::string end = run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<std::string> {
    const auto link = host_.link(executor);
    Supervised supervised(executor, *link, host_.supervision());
    co_await supervised.prepare(files, test::drop);
    supervised.heartbeat();
    supervised.stop_command();
    Reader reader(supervised);
    co_await reader.to_end();
    co_return reader.end();
  });
  EXPECT_EQ(end, "exit 125, closed");
}

TEST_P(Supervisor, StartsAtOnceWithItsText) {
  const Outcome run = run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<Outcome> {
    const auto link = host_.link(executor);
    Supervised supervised(executor, *link, host_.supervision());
    co_await supervised.prepare({}, test::drop, sh("echo \"$0 started\"; exec sleep 1000"));
    Reader reader(supervised);
    co_await reader.until("started\n");
    supervised.heartbeat();
    supervised.signal("INT");
    co_await reader.to_end();
    co_return outcome(reader);
  });
  EXPECT_EQ(run.end, "exit 130, closed");
  EXPECT_EQ(run.err, "");
}

TEST_P(Supervisor, StartsNothingOfAGoThatIsCut) {
  const std::string go = "go set -- /bin/touch " + host_.directory().path("started");
  for (const std::size_t size : {std::size_t{1}, std::size_t{3}, go.size() - 1, go.size()}) {
    const std::string end =
        run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<std::string> {
          const auto link = host_.link(executor);
          const auto stream = co_await link->exec(supervisor_program(host_.supervision(), "n"));
          test::StreamReader<link::Stream> reader(*stream);
          co_await reader.until("podrun1 n ready - - - - \n");
          co_await stream->write(Chunk("\n" + go.substr(0, size)));
          stream->close_write();
          co_await reader.to_end();
          co_return reader.end();
        });
    EXPECT_EQ(end, "exit 125, closed");
    EXPECT_FALSE(host_.directory().has("started"));
  }
}

TEST_P(Supervisor, PassesAnInterruptOn) {
  const auto interrupted = [&](const std::string& command) {
    return run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<Outcome> {
      const auto link = host_.link(executor);
      Supervised supervised(executor, *link, host_.supervision());
      co_await supervised.prepare({}, test::drop);
      supervised.go("", Chunk(std::string(sh(command))));
      Reader reader(supervised);
      co_await reader.until("ready\n");
      supervised.signal("INT");
      co_await reader.to_end();
      co_return outcome(reader);
    });
  };
  EXPECT_EQ(interrupted("echo ready; exec sleep 1000").end, "exit 130, closed");
  const Outcome trapped =
      interrupted("trap 'echo interrupted; exit 7' INT; echo ready; while :; do sleep 0.05; done");
  EXPECT_EQ(trapped.out, "ready\ninterrupted\n");
  EXPECT_EQ(trapped.end, "exit 7, closed");
}

TEST_P(Supervisor, LeavesBackgroundChildrenOfANormalEndAlone) {
  const Outcome run = this->run(sh("sleep 1000 >/dev/null 2>&1 & echo $!"));
  EXPECT_EQ(run.end, "exit 0, closed");
  const auto pid = static_cast<pid_t>(std::stol(run.out));
  EXPECT_TRUE(eventually([&] { return host_.processes().size() == 1; }))
      << testing::PrintToString(host_.processes());
  EXPECT_EQ(::kill(pid, SIGKILL), 0);
}

TEST_P(Supervisor, NamesWhatHoldsTheOutput) {
  run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<void> {
    const auto link = host_.link(executor);
    Supervised supervised(executor, *link, host_.supervision());
    co_await supervised.prepare({}, test::drop);
    // Both must be sleep by then: until its exec a child of the shell has the shell's name and output.
    supervised.go(
        "", Chunk(std::string(sh("sleep 1000 & a=$!; sleep 1001 >/dev/null 2>&1 & for p in $a $!; do until "
                                 "read -r c </proc/$p/comm && [ $c = sleep ]; do :; done; done"))));
    Reader reader(supervised);
    co_await reader.until_exit();
    bool started = false;
    const Holders holders = co_await supervised.output_holders(started);
    EXPECT_TRUE(started);
    EXPECT_EQ(holders.named.size(), 1U) << testing::PrintToString(host_.processes());
    for (const Holder& holder : holders.named) EXPECT_EQ(holder.name + holder.stuck_at, "sleep");
    for (const std::string& process : host_.processes()) {
      if (process.find("sleep") != std::string::npos) ::kill(static_cast<pid_t>(std::stol(process)), SIGKILL);
    }
    co_await reader.to_end();
    EXPECT_EQ(reader.end(), "exit 0, closed");
  });
}

}  // namespace
}  // namespace podrun::supervisor
