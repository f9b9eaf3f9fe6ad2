// SPDX-License-Identifier: Apache-2.0
// How the script ends what it started. These take seconds, so each runs under all shells at once.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

#include <asio/detached.hpp>
#include <asio/post.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/base/shell_quote.hpp"
#include "podrun/report/outcome_words.hpp"
#include "podrun/supervisor/supervised.hpp"

#include "support/child.hpp"
#include "support/run_coroutine.hpp"
#include "support/shell_link.hpp"
#include "support/stream_reader.hpp"

namespace podrun::supervisor {
namespace {

using std::chrono::seconds;
using test::eventually;
using test::run_coroutine;
using test::TestHost;
using Reader = test::StreamReader<Supervised>;

std::string sh(std::string_view text) { return "set -- /bin/sh -c " + shell_quote_in_line(text); }

using Scenario = asio::awaitable<void> (*)(asio::any_io_executor, TestHost&);

/// Plays it under every shell at once; afterwards nothing may be left anywhere.
void play(Scenario scenario) {
  std::vector<std::unique_ptr<TestHost>> hosts;
  for (test::Shell& shell : test::host_shells())
    hosts.push_back(std::make_unique<TestHost>(std::move(shell)));
  std::set<const TestHost*> playing;
  const auto start = [&](asio::any_io_executor executor) -> asio::awaitable<void> {
    for (const auto& host : hosts) {
      playing.insert(host.get());
      asio::co_spawn(executor, scenario(executor, *host), [&](const std::exception_ptr& error) {
        playing.erase(host.get());
        try {
          if (error) std::rethrow_exception(error);
        } catch (const std::exception& failed) {
          ADD_FAILURE() << host->shell().name << ": " << failed.what();
        }
      });
    }
    co_return;
  };
  try {
    run_coroutine(start);
  } catch (const std::runtime_error& pending) {
    ADD_FAILURE() << pending.what();
    for (const TestHost* host : playing)
      ADD_FAILURE() << host->shell().name << ": " << testing::PrintToString(host->processes());
    return;
  }
  for (const auto& host : hosts) {
    eventually([&] { return host->processes().empty(); });
    EXPECT_THAT(host->processes(), testing::IsEmpty()) << host->shell().name;
    EXPECT_THAT(host->run_directories(), testing::IsEmpty()) << host->shell().name;
  }
}

/// One supervised command and its reader.
struct Run {
  Run(const asio::any_io_executor& executor, TestHost& host)
      : link(host.link(executor)), supervised(executor, *link, host.supervision()), reader(supervised) {}

  asio::awaitable<void> start(std::string text) {
    co_await supervised.prepare({}, test::drop);
    supervised.go("", Chunk(std::string(sh(text))));
  }

  std::unique_ptr<test::ShellLink> link;
  Supervised supervised;
  Reader reader;
};

/// Prints its count about every tenth of a second.
constexpr std::string_view kCounter = "i=0; while :; do i=$((i+1)); echo $i; sleep 0.1; done";

asio::awaitable<void> be_heard_suspended_then_silent(asio::any_io_executor executor, TestHost& host) {
  host.supervision().orphan_timeout = seconds(1);  // one tick
  Run run(executor, host);
  co_await run.start(std::string(kCounter));
  for (int count = 1; count <= 20; ++count) {
    co_await run.reader.until(fmt::format("{}\n", count));
    run.supervised.heartbeat();
  }
  co_await run.reader.until("\n21\n");
  run.supervised.suspend();
  co_await run.reader.until("\n41\n");
  run.supervised.heartbeat();
  co_await run.reader.to_end();
  EXPECT_EQ(run.reader.out().find("\n100\n"), std::string::npos)
      << host.shell().name << " went on in silence";
  EXPECT_EQ(run.reader.err(), "podrun: no word from podrun for 2 s: this host stops the command\n")
      << host.shell().name;
}

TEST(SupervisorEnd, StopsTheCommandAfterSilenceUnlessPodrunIsSuspended) {
  play(be_heard_suspended_then_silent);
}

/// Sends every signal that can be caught to its whole process group.
constexpr std::string_view kSignalAll =
    "s=1; while [ $s -le 64 ]; do case $s in 9 | 17 | 18 | 19 | 32 | 33) ;; *) trap '' $s; kill -$s 0 ;; "
    "esac;"
    " s=$((s+1)); done; ";

asio::awaitable<void> signal_the_own_group(asio::any_io_executor executor, TestHost& host) {
  host.supervision().orphan_timeout = seconds(60);
  Run run(executor, host);
  co_await run.start(std::string(kSignalAll) + "sleep 0.3; echo sent; exit 3");
  co_await run.reader.to_end();
  EXPECT_EQ(run.reader.out() + run.reader.err(), "sent\n") << host.shell().name;
  EXPECT_EQ(run.reader.end(), "exit 3, closed") << host.shell().name;
}

TEST(Supervisor, IsNotTouchedByACommandThatSignalsItsOwnGroup) { play(signal_the_own_group); }

asio::awaitable<void> be_silent_after_signals(asio::any_io_executor executor, TestHost& host) {
  host.supervision().orphan_timeout = seconds(1);
  Run run(executor, host);
  co_await run.start(std::string(kSignalAll) + "echo sent; while :; do sleep 0.1; done");
  co_await run.reader.to_end();
  EXPECT_EQ(run.reader.err(), "podrun: no word from podrun for 2 s: this host stops the command\n")
      << host.shell().name;
}

TEST(SupervisorEnd, StopsTheCommandAfterSilenceWhateverItSignals) { play(be_silent_after_signals); }

asio::awaitable<void> be_silent_after_a_kill_of_sleeps(asio::any_io_executor executor, TestHost& host) {
  host.supervision().orphan_timeout = seconds(1);
  Run run(executor, host);
  co_await run.start(
      "for p in $(grep -lsE '^PPid:[^0-9]*[0-9]+$' /proc/[0-9]*/status); do p=${p#/proc/}; p=${p%/status};"
      " read -r c </proc/$p/comm && [ \"$c\" = sleep ] && read -r a b c d e f rest </proc/$p/stat &&"
      " read -r i j k l m g rest </proc/$$/stat && [ \"$f\" = \"$g\" ] && kill -9 $p; done 2>/dev/null;"
      " echo killed; while :; do sleep 0.1; done");
  co_await run.reader.to_end();
  EXPECT_EQ(run.reader.out().substr(0, 7), "killed\n") << host.shell().name;
  EXPECT_EQ(run.reader.err(), "podrun: no word from podrun for 2 s: this host stops the command\n")
      << host.shell().name;
}

TEST(SupervisorEnd, StopsTheCommandAfterSilenceThoughItKillsSleeps) {
  play(be_silent_after_a_kill_of_sleeps);
}

asio::awaitable<void> end_after_signals(asio::any_io_executor executor, TestHost& host) {
  Run run(executor, host);
  co_await run.start(std::string(kSignalAll) + "echo sent; while :; do sleep 0.1; done");
  co_await run.reader.until("sent\n");
  run.supervised.stop_command();
  co_await run.reader.to_end();
}

TEST(SupervisorEnd, StopsTheCommandWhenToldWhateverItSignals) { play(end_after_signals); }

asio::awaitable<void> be_silent_before_go(asio::any_io_executor executor, TestHost& host) {
  host.supervision().orphan_timeout = seconds(1);
  host.supervision().input = StandardInput::fed;
  Run run(executor, host);
  co_await run.supervised.prepare({}, test::drop);
  co_await run.reader.to_end();
  EXPECT_EQ(run.reader.out() + run.reader.err(), "") << host.shell().name;
}

TEST(SupervisorEnd, ExitsAfterSilenceBeforeGo) { play(be_silent_before_go); }

asio::awaitable<void> leave_before_the_hello(asio::any_io_executor executor, TestHost& host) {
  host.supervision().input = StandardInput::fed;
  Run run(executor, host);
  run.link->before = "sleep 0.5; ";
  const auto leave = [&]() -> asio::awaitable<void> {
    EXPECT_TRUE(co_await eventually(executor, [&] { return !host.processes().empty(); }));
    run.supervised.stop({link::Stage::none, link::Cause::other, "left"});
  };
  bool refused = false;
  asio::co_spawn(executor, leave(), asio::detached);
  try {
    co_await run.supervised.prepare({}, test::drop);
  } catch (const link::HostError&) {
    refused = true;
  }
  EXPECT_TRUE(refused);
}

TEST(SupervisorEnd, ExitsWhenPodrunLeavesBeforeTheHello) { play(leave_before_the_hello); }

/// A search of environments, which a process may hold up, that waits for the TERM of the command, and tells
/// when that does not come.
constexpr std::string_view kSearchThatWaits =
    "grep() { case $* in *environ*) ;; *) command grep \"$@\"; return ;; esac; t=0; until [ -e ~/term ] || [ "
    "$t -gt 50 ]; do sleep 0.1; t=$((t+1)); done;"
    " [ -e ~/term ] || echo >~/searched-first; command grep \"$@\"; }; ";

asio::awaitable<void> end_with_slow_search(asio::any_io_executor executor, TestHost& host, bool word) {
  if (!word) host.supervision().orphan_timeout = seconds(1);
  Run run(executor, host);
  run.link->before = kSearchThatWaits;
  co_await run.start("trap 'echo >~/term; exit 0' TERM; echo ready; while :; do sleep 0.1 & wait $!; done");
  co_await run.reader.until("ready\n");
  if (word) run.supervised.stop_command();
  co_await run.reader.to_end();
  EXPECT_EQ(host.directory().read("searched-first"), "") << host.shell().name;
}
asio::awaitable<void> end_by_word(asio::any_io_executor executor, TestHost& host) {
  co_await end_with_slow_search(executor, host, true);
}
asio::awaitable<void> end_by_silence(asio::any_io_executor executor, TestHost& host) {
  co_await end_with_slow_search(executor, host, false);
}

TEST(SupervisorEnd, SignalsBeforeItSearchesEnvironments) { play(end_by_word); }
TEST(SupervisorEnd, SignalsBeforeItSearchesEnvironmentsAfterSilenceToo) { play(end_by_silence); }

asio::awaitable<void> refuse(asio::any_io_executor executor, TestHost& host) {
  host.supervision().input = StandardInput::fed;
  host.supervision().preparations = {clean_up()};
  host.directory().write(".libtpu_lockfile", "");
  Run run(executor, host);
  // Hides the processes of this machine that have an accelerator open.
  run.link->before =
      "ls() { :; }; rm() { case $* in *lockfile*) return 1 ;; *) command rm \"$@\" ;; esac; }; ";
  std::string what = "ready";
  try {
    co_await run.supervised.prepare({}, test::drop);
  } catch (const link::HostError& error) {
    what = report::reason(error.failure());
  }
  EXPECT_TRUE(what.ends_with("libtpu_lockfile cannot be removed")) << what;
}

TEST(SupervisorEnd, RemovesTheDirectoryOfARunThatIsRefused) { play(refuse); }

asio::awaitable<void> find_the_directory_of_another(asio::any_io_executor executor, TestHost& host) {
  host.supervision().run_directory = RunDirectory::yes;
  Run run(executor, host);
  co_await run.start("echo ready; exec sleep 1000");
  co_await run.reader.until("ready\n");
  const std::string directory = host.run_directories().front();
  std::filesystem::remove_all(directory);
  std::filesystem::create_directory(directory);  // as the next attempt does, which has the same run id
  run.supervised.stop_command();
  co_await run.reader.to_end();
  EXPECT_TRUE(co_await eventually(executor, [&] { return host.processes().empty(); }));
  EXPECT_TRUE(std::filesystem::remove(directory)) << host.shell().name << " has removed it";
}

TEST(SupervisorEnd, RemovesNoDirectoryThatAnotherHasMadeMeanwhile) { play(find_the_directory_of_another); }

/// Processes that are hard to stop: they ignore TERM, have their own session, no output, or children.
constexpr std::string_view kTree =
    "trap 'echo term; exit 9' TERM; trap '' HUP;"
    "PATH=/usr/bin; sh -c 'trap \"\" INT HUP TERM; while :; do sleep 1; done' &"
    "setsid sleep 1001 & setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' >/dev/null 2>&1 &"
    "nohup sleep 1002 >/dev/null 2>&1 & bash -c 'set -m; sleep 1003 & wait' &"
    "echo grown; while :; do sleep 0.1 & wait $!; done";

asio::awaitable<void> end_a_tree(asio::any_io_executor executor, TestHost& host) {
  host.supervision().run_directory = RunDirectory::yes;
  Run run(executor, host);
  co_await run.start(std::string(kTree));
  co_await run.reader.until("grown\n");
  const auto grown = [&] {
    const auto processes = host.processes();
    return std::count_if(processes.begin(), processes.end(), [](const std::string& process) {
             return process.find("sleep") != std::string::npos;
           }) >= 5;
  };
  EXPECT_TRUE(co_await eventually(executor, grown)) << testing::PrintToString(host.processes());
  run.supervised.stop_command();
  co_await run.reader.to_end();
  EXPECT_EQ(run.reader.out(), "grown\nterm\n") << host.shell().name;
}

TEST(SupervisorEnd, StopsAllProcessesOfTheCommand) { play(end_a_tree); }

/// Daemons without the mark, each in a process group of its own.
constexpr std::string_view kUnmarked =
    "PATH=/usr/bin; bash -c 'set -m; env -i OF_TEST=$OF_TEST sleep 1000 &"
    " env -i OF_TEST=$OF_TEST sh -c \"trap \\\"\\\" TERM; while :; do sleep 1; done\" &';"
    "echo grown; while :; do sleep 0.1 & wait $!; done";

asio::awaitable<void> end_unmarked(asio::any_io_executor executor, TestHost& host) {
  Run run(executor, host);
  co_await run.start(std::string(kUnmarked));
  co_await run.reader.until("grown\n");
  run.supervised.stop_command();
  co_await run.reader.to_end();
}

TEST(SupervisorEnd, EndsProcessesOfItsSessionThatClearedTheirEnvironment) { play(end_unmarked); }

/// Refuses a long pattern, as the kernel does where it has the pids of more than 16,000 processes.
constexpr std::string_view kGrepOfShortPatterns =
    "grep() { for p; do case $p in /proc/*) break ;; esac; [ ${#p} -lt 250 ] || return 2; done; command grep "
    "\"$@\"; }; ";

/// Its only descendants without the mark are outside its process group.
asio::awaitable<void> end_a_large_group(asio::any_io_executor executor, TestHost& host) {
  Run run(executor, host);
  run.link->before = kGrepOfShortPatterns;
  co_await run.start(
      "PATH=/usr/bin; i=0; while [ $((i += 1)) -le 60 ]; do sleep 1000 & done;"
      " env -i OF_TEST=$OF_TEST setsid sh -c 'trap \"\" TERM; sleep 1001 & echo grown; wait' & wait");
  co_await run.reader.until("grown\n");
  run.supervised.stop_command();
  co_await run.reader.to_end();
}

TEST(SupervisorEnd, FindsWhatHasDetachedFromAGroupOfManyProcesses) { play(end_a_large_group); }

/// Its searches hang once ~/hang exists, and no pause is longer than a second.
constexpr std::string_view kSearchThatHangs =
    "grep() { [ ! -e ~/hang ] || command sleep 1000; command grep \"$@\"; };"
    " sleep() { [ ${1%.*} -lt 20 ] || set -- 1; command sleep $1; }; ";

asio::awaitable<void> end_with_a_search_that_hangs(asio::any_io_executor executor, TestHost& host) {
  Run run(executor, host);
  run.link->before = kSearchThatHangs;
  co_await run.start("echo >~/hang; echo ready; while :; do sleep 0.1 & wait $!; done");
  co_await run.reader.until("ready\n");
  run.supervised.stop_command();
  co_await run.reader.to_end();
}

TEST(SupervisorEnd, KillsTheGroupWhenASearchHangs) { play(end_with_a_search_that_hangs); }

asio::awaitable<void> interrupt_unmarked(asio::any_io_executor executor, TestHost& host) {
  Run run(executor, host);
  co_await run.start(
      "PATH=/usr/bin; env -i OF_TEST=$OF_TEST sh -c 'trap \"\" INT TERM; echo grown; while :; do sleep 1; "
      "done' &"
      " wait");
  co_await run.reader.until("grown\n");
  run.supervised.signal("INT");
  co_await run.reader.to_end();
}

TEST(SupervisorEnd, EndsSuchProcessesAfterAnInterruptThatEndsTheCommand) { play(interrupt_unmarked); }

/// As one who has kept the environment of a command: `export SAVED="$(env)"`.
asio::awaitable<void> end_beside_a_stranger(asio::any_io_executor executor, TestHost& host) {
  const test::Child stranger(
      {"env", "-i", "SAVED=PODRUN_MARK=" + host.supervision().mark, "/usr/bin/sleep", "1000"});
  Run run(executor, host);
  co_await run.start("echo ready; exec sleep 1000");
  co_await run.reader.until("ready\n");
  run.supervised.stop_command();
  co_await run.reader.to_end();
  EXPECT_TRUE(stranger.runs()) << host.shell().name;
}

TEST(SupervisorEnd, LeavesAProcessAloneThatHasTheMarkInAnotherVariable) { play(end_beside_a_stranger); }

/// A background job of sh ignores INT, one under job control does not.
constexpr std::string_view kLeft =
    "PATH=/usr/bin; sleep 1000 & setsid sleep 1001 >/dev/null 2>&1 &"
    "bash -c 'set -m; (trap \"echo interrupted\" INT; trap \"\" TERM; echo grown;"
    " while :; do sleep 0.1 & wait $!; done) &';"
    "until [ -e ~/go ]; do sleep 0.1; done; exit 3";

asio::awaitable<void> end_what_is_left(asio::any_io_executor executor, TestHost& host) {
  Run run(executor, host);
  co_await run.start(std::string(kLeft));
  co_await run.reader.until("grown\n");
  host.directory().write("go", "");
  co_await run.reader.until_exit();
  asio::co_spawn(executor, run.supervised.supervise_rest(test::drop), asio::detached);
  run.supervised.signal("INT");
  co_await run.reader.until("interrupted\n");
  const auto no_sleep_is_left = [&] {
    const auto processes = host.processes();
    return std::none_of(processes.begin(), processes.end(), [](const std::string& process) {
      return process.find(std::string_view("sleep\0"
                                           "100",
                                           9)) != std::string::npos;
    });
  };
  EXPECT_TRUE(co_await eventually(executor, no_sleep_is_left)) << testing::PrintToString(host.processes());
  run.supervised.stop_command();
  co_await run.reader.to_end();
  EXPECT_EQ(run.reader.end(), "exit 3, closed") << host.shell().name;
}

TEST(SupervisorEnd, StopsProcessesThatTheCommandLeft) { play(end_what_is_left); }

/// Processes that a command left stay only while podrun is heard or has asked for patience.
asio::awaitable<void> be_silent_after_the_command(asio::any_io_executor executor, TestHost& host) {
  host.supervision().orphan_timeout = seconds(1);
  Run run(executor, host);
  co_await run.start("sh -c '" + std::string(kCounter) + "' & exit 3");
  co_await run.reader.until_exit();
  asio::co_spawn(executor, run.supervised.supervise_rest(test::drop), asio::detached);
  for (int count = 1; count <= 30; ++count) {
    co_await run.reader.until(fmt::format("{}\n", count));
    run.supervised.heartbeat();
  }
  run.supervised.suspend();
  co_await run.reader.until("\n61\n");
  run.supervised.heartbeat();
  co_await run.reader.to_end();
  EXPECT_EQ(run.reader.end(), "exit 3, closed") << host.shell().name;
  EXPECT_EQ(run.reader.out().find("\n200\n"), std::string::npos)
      << host.shell().name << " went on in silence";
}

TEST(SupervisorEnd, StopsProcessesThatTheCommandLeftAfterSilence) {
  void (*const before)(int) = std::signal(SIGPIPE, SIG_IGN);  // as main does: the first supervisor has ended
  play(be_silent_after_the_command);
  (void)std::signal(SIGPIPE, before);
}

asio::awaitable<void> abandon(asio::any_io_executor executor, TestHost& host) {
  host.supervision().input = StandardInput::fed;
  Run run(executor, host);
  co_await run.start("echo ready; exec sleep 1000 </dev/null");
  const auto input = co_await run.supervised.open_input();
  co_await run.reader.until("ready\n");
}

TEST(SupervisorEnd, StopsTheCommandWhenTheRunIsAbandoned) { play(abandon); }

asio::awaitable<void> finish_in_the_grace(asio::any_io_executor executor, TestHost& host) {
  host.supervision().grace = seconds(600);
  Run run(executor, host);
  co_await run.start(
      "trap 'echo saved >saved; exit 0' TERM; cd; echo ready; while :; do sleep 0.1 & wait $!; done");
  co_await run.reader.until("ready\n");
  run.supervised.stop_command();
  co_await run.reader.to_end();
  EXPECT_EQ(host.directory().read("saved"), "saved\n") << host.shell().name;
}

TEST(SupervisorEnd, WaitsNoLongerThanTheCommandNeeds) { play(finish_in_the_grace); }

asio::awaitable<void> go_with_a_megabyte(asio::any_io_executor executor, TestHost& host) {
  Run run(executor, host);
  co_await run.supervised.prepare({}, test::drop);
  run.supervised.go(
      "", Chunk(std::string("podrun_x='" + std::string(1 << 20, 'x') + "'; set -- /bin/echo ${#podrun_x}")));
  co_await run.reader.to_end();
  EXPECT_EQ(run.reader.out(), "1048576\n") << host.shell().name;
  EXPECT_EQ(run.reader.end(), "exit 0, closed") << host.shell().name;
}

TEST(Supervisor, TakesAGoOfAMegabyte) { play(go_with_a_megabyte); }

asio::awaitable<void> beat_often(asio::any_io_executor executor, TestHost& host) {
  Run run(executor, host);
  co_await run.start("echo ready; until [ -e ~/done ]; do sleep 0.1; done");
  co_await run.reader.until("ready\n");
  for (int i = 0; i < 250; ++i) {
    run.supervised.heartbeat();
    run.supervised.signal("WINCH");  // ignored by all; after each one the heartbeat is written
    if (i % 25 == 0) co_await asio::post(executor, asio::use_awaitable);
  }
  run.supervised.signal("CONT");
  EXPECT_TRUE(co_await eventually(executor, [&] { return host.processes().size() <= 8; }))
      << host.shell().name << testing::PrintToString(host.processes());
  host.directory().write("done", "");
  co_await run.reader.to_end();
  EXPECT_EQ(run.reader.end(), "exit 0, closed") << host.shell().name;
}

TEST(Supervisor, PilesNothingUpOverManyHeartbeats) { play(beat_often); }

}  // namespace
}  // namespace podrun::supervisor
