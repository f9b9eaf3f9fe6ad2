// SPDX-License-Identifier: Apache-2.0
// What the hosts are found to be after a try: how long podrun waits for them, and the cause.
#include <csignal>

#include <gtest/gtest.h>

#include "podrun/restarts/restart_policy.hpp"

#include "unit/restarts/tries.hpp"

namespace podrun::restarts {
namespace {

using namespace std::chrono_literals;
using test::exited;
using test::kBusy;
using test::kMissing;
using test::kReady;
using test::Tries;

/// The cause of a try that ended like this, when the hosts are found so.
std::string cause_of(std::vector<run::HostOutcome> outcomes, std::vector<HostAfterTry> hosts) {
  Tries tries({.restarts = 3});
  EXPECT_EQ(tries.ends(std::move(outcomes), 10min), "look in 0 s");
  EXPECT_TRUE(tries.looks(std::move(hosts)).starts_with("prepare"));
  return tries.cause();
}

TEST(RestartPolicyHosts, WaitsUntilAllAreReady) {
  Tries tries({.restarts = 3});
  tries.ends({exited(1), run::Stopped{}}, 10min);
  EXPECT_EQ(tries.looks({kReady, kMissing}), "look in 5 s");
  tries.wait();
  EXPECT_EQ(tries.looks({kBusy, kReady}), "look in 5 s");
  tries.pass(1min);
  EXPECT_EQ(tries.looks({kReady, kBusy}), "look in 15 s") << "less often";
  EXPECT_EQ(tries.policy().restarts(), 0U);
  tries.wait();
  EXPECT_EQ(tries.all_ready(), "prepare in 0 s");
}

TEST(RestartPolicyHosts, GivesUpAfterAnHour) {
  Tries tries({.restarts = 3});
  tries.ends({exited(1), run::Stopped{}}, 10min);
  EXPECT_EQ(tries.policy().waits_until(), tries.now() + 1h);
  tries.pass(1h - 7s);
  EXPECT_EQ(tries.looks({kReady, kMissing}), "look in 7 s") << "once more, at the end";
  tries.wait();
  EXPECT_EQ(tries.looks({kReady, kMissing}), "over: hosts_missing 255");
}

TEST(RestartPolicyHosts, StartsAgainWhenTheyAreBackAtTheEndOfTheHour) {
  Tries tries({.restarts = 3});
  tries.ends({exited(1), run::Stopped{}}, 10min);
  tries.pass(1h);
  EXPECT_EQ(tries.all_ready(), "prepare in 0 s");
}

TEST(RestartPolicyHosts, GivesUpABusyHostToo) {
  Tries tries({.restarts = 3, .wait_hosts = 1min});
  tries.ends({exited(1), run::Stopped{}}, 10min);
  tries.pass(1min);
  EXPECT_EQ(tries.looks({kReady, kBusy}), "over: hosts_missing 255");
}

TEST(RestartPolicyHosts, WaitsAgainAfterEachTry) {
  Tries tries({.restarts = 3, .wait_hosts = 2min});
  EXPECT_EQ(tries.fails_and_starts(10min), "start");
  tries.ends({exited(1), run::Stopped{}}, 10min);
  tries.pass(119s);
  EXPECT_EQ(tries.looks({kReady, kMissing}), "look in 1 s");
}

TEST(RestartPolicyHosts, WaitsForeverIfTold) {
  Tries tries({.restarts = 3, .wait_hosts = std::nullopt});
  tries.ends({exited(1), run::Stopped{}}, 10min);
  EXPECT_EQ(tries.policy().waits_until(), std::nullopt);
  tries.pass(1000h);
  EXPECT_EQ(tries.looks({kReady, kMissing}), "look in 15 s");
}

TEST(RestartPolicyHosts, JudgesTheCauseByTheWorstEvidence) {
  const std::vector<run::HostOutcome> failed = {exited(1), run::Stopped{}};
  EXPECT_EQ(cause_of(failed, {kReady, kReady}), "exit");
  EXPECT_EQ(cause_of({exited(134), exited(1)}, {kReady, kReady}), "signal");
  EXPECT_EQ(cause_of({link::Signaled{SIGSEGV}, run::Stopped{}}, {kReady, kReady}), "signal");
  EXPECT_EQ(cause_of({exited(137), run::Stopped{}}, {test::kOutOfMemory, kReady}), "oom");
  EXPECT_EQ(cause_of({exited(1), test::lost()}, {kReady, kReady}), "lost") << "a sibling failed first";
  EXPECT_EQ(cause_of({exited(1), test::lost()}, {test::kRebooted, kReady}), "rebooted");
  EXPECT_EQ(cause_of(failed, {test::kRebooted, test::kReplaced}), "replaced");
}

TEST(RestartPolicyHosts, BlamesMemoryOnlyWhereTheCommandWasKilled) {
  EXPECT_EQ(cause_of({exited(1), run::Stopped{}}, {test::kOutOfMemory, kReady}), "exit");
  EXPECT_EQ(cause_of({exited(137), run::Stopped{}}, {kReady, test::kOutOfMemory}), "signal");
  EXPECT_EQ(cause_of({link::Signaled{SIGKILL}, run::Stopped{}}, {test::kOutOfMemory, kReady}), "oom");
}

TEST(RestartPolicyHosts, DoesNotTakeALargeStatusForASignal) {
  EXPECT_EQ(cause_of({exited(255), run::Stopped{}}, {kReady, kReady}), "exit") << "exit(-1)";
  EXPECT_EQ(cause_of({exited(193), run::Stopped{}}, {kReady, kReady}), "exit");
  EXPECT_EQ(cause_of({exited(128), run::Stopped{}}, {kReady, kReady}), "exit");
  EXPECT_EQ(cause_of({exited(192), run::Stopped{}}, {kReady, kReady}), "signal") << "SIGRTMAX";
}

TEST(RestartPolicyHosts, CountsAStall) {
  Tries tries({.restarts = 3});
  tries.on(event::TryEnded{
      .outcomes = {exited(143), run::Stopped{}}, .status = 124, .ran = 10min, .has_stalled = true});
  EXPECT_EQ(tries.all_ready(), "prepare in 10 s");
  EXPECT_EQ(tries.cause(), "stalled");
  EXPECT_EQ(tries.policy().left(), 2U);
}

TEST(RestartPolicyHosts, TakesAHostForLostThatIsMissingForAMinute) {
  Tries tries({.restarts = 3});
  tries.ends({exited(1), run::Stopped{}}, 10min);
  EXPECT_EQ(tries.looks({kReady, kMissing}), "look in 5 s");
  tries.pass(60s);
  EXPECT_EQ(tries.looks({kReady, kMissing}), "look in 15 s");
  tries.wait();
  EXPECT_EQ(tries.all_ready(), "prepare in 0 s");
  EXPECT_EQ(tries.cause(), "lost");
  EXPECT_EQ(tries.policy().missing(), std::vector<std::size_t>{1});
  EXPECT_EQ(tries.policy().left(), 3U);
}

TEST(RestartPolicyHosts, DoesNotTakeAHostForLostThatIsMissingForLess) {
  Tries tries({.restarts = 3});
  tries.ends({exited(1), run::Stopped{}}, 10min);
  EXPECT_EQ(tries.looks({kReady, kMissing}), "look in 5 s");
  tries.pass(59s);
  EXPECT_EQ(tries.looks({kReady, kMissing}), "look in 5 s");
  tries.wait();
  EXPECT_EQ(tries.all_ready(), "prepare in 0 s");
  EXPECT_EQ(tries.cause(), "exit");
}

TEST(RestartPolicyHosts, MeasuresTheMinuteFromTheLastAnswer) {
  Tries tries({.restarts = 3});
  tries.ends({exited(1), run::Stopped{}}, 10min);
  tries.pass(55s);
  EXPECT_EQ(tries.looks({kBusy, kReady}), "look in 5 s");
  tries.pass(10s);
  EXPECT_EQ(tries.looks({kMissing, kReady}), "look in 15 s") << "for 10 s";
  tries.pass(5s);
  EXPECT_EQ(tries.all_ready(), "prepare in 0 s");
  EXPECT_EQ(tries.cause(), "exit");
  EXPECT_TRUE(tries.policy().missing().empty());
}

TEST(RestartPolicyHosts, ForgetsWhoWasMissingAfterAnEarlierTry) {
  Tries tries({.restarts = 3});
  tries.ends({exited(1), run::Stopped{}}, 10min);
  tries.pass(1min);
  tries.looks({kReady, kMissing});
  tries.all_ready();
  tries.starts();
  EXPECT_EQ(tries.fails(10min), "prepare in 10 s");
  EXPECT_EQ(tries.cause(), "exit");
}

TEST(RestartPolicyHosts, EndLikeAnyRunThatCannotStart) {
  Tries tries({.restarts = 3});
  EXPECT_EQ(tries.cannot_start(), "over: first_try 255");
  EXPECT_EQ(tries.policy().restarts(), 0U);
}

TEST(RestartPolicyHosts, AreWaitedForWhenATryCannotStart) {
  Tries tries({.restarts = 1});
  EXPECT_EQ(tries.fails_and_starts(10min), "start");
  EXPECT_EQ(tries.cannot_start(), "look in 30 s");
  tries.wait();
  EXPECT_EQ(tries.looks({kMissing, kReady}), "look in 5 s");
  tries.wait();
  EXPECT_EQ(tries.all_ready(), "prepare in 0 s") << "the decision holds";
  EXPECT_EQ(tries.starts(), "start");
  EXPECT_EQ(tries.policy().restarts(), 1U);
  EXPECT_EQ(tries.policy().left(), 0U);
  EXPECT_EQ(tries.cause(), "exit");
  EXPECT_EQ(tries.fails(10min), "over: restarts 1");
}

TEST(RestartPolicyHosts, AreNotWaitedForAfterAnInterruptedStart) {
  Tries tries({.restarts = 3});
  EXPECT_EQ(tries.fails_and_starts(10min), "start");
  EXPECT_EQ(tries.on(event::TryEnded{
                .outcomes = {run::NotStarted{}, run::NotStarted{}}, .status = 130, .interrupted_by = SIGINT}),
            "over: interrupted 130");
}

TEST(RestartPolicyHosts, AreGivenUpWhenStartsFailForAnHour) {
  Tries tries({.restarts = 3});
  EXPECT_EQ(tries.fails_and_starts(10min), "start");
  std::size_t starts = 0;
  std::string last;
  for (; starts < 1000; ++starts) {
    last = tries.cannot_start();
    if (last.starts_with("over")) break;
    tries.wait();
    EXPECT_EQ(tries.all_ready(), "prepare in 0 s");
    EXPECT_EQ(tries.starts(), "start");
  }
  EXPECT_EQ(last, "over: hosts_missing 255") << "they look well, but take no command";
  EXPECT_EQ(tries.policy().restarts(), 1U);
}

}  // namespace
}  // namespace podrun::restarts
