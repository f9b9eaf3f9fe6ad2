// SPDX-License-Identifier: Apache-2.0
// The rules by which a command starts again, or does not.
#include "podrun/restarts/restart_policy.hpp"

#include <csignal>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "unit/restarts/tries.hpp"

namespace podrun::restarts {
namespace {

using namespace std::chrono_literals;
using test::exited;
using test::kBusy;
using test::kMissing;
using test::kReady;
using test::Tries;

TEST(RestartPolicy, IsFinishedAfterSuccessOnAllHosts) {
  Tries tries({.restarts = 3});
  EXPECT_EQ(tries.ends({exited(0), exited(0)}, 5s), "look in 0 s, only");
  EXPECT_EQ(tries.looks({kReady, kBusy}), "over: finished 0") << "its own processes may go on";
  EXPECT_EQ(tries.policy().restarts(), 0U);
}

TEST(RestartPolicy, HasOneTryWhereNoneIsAllowedAfterIt) {
  Tries tries({.allowed = false, .restarts = 3});
  EXPECT_EQ(tries.ends({exited(1), run::Lost{}}, 2h), "over: restarts 255");
}

TEST(RestartPolicy, StartsAFailedCommandAgain) {
  Tries tries({.restarts = 3});
  EXPECT_EQ(tries.ends({exited(1), run::Stopped{}}, 10min), "look in 0 s");
  EXPECT_EQ(tries.cause(), "") << "not judged yet";
  EXPECT_EQ(tries.all_ready(), "prepare in 10 s");
  EXPECT_EQ(tries.cause(), "exit");
  EXPECT_EQ(tries.policy().restarts(), 1U);
  EXPECT_EQ(tries.policy().left(), 2U);
  EXPECT_EQ(tries.starts(), "start");
  tries.ends({exited(0), exited(0)}, 10min);
  EXPECT_EQ(tries.all_ready(), "over: finished 0");
}

TEST(RestartPolicy, IsFinishedWithoutALookWhereNoneIsAllowed) {
  EXPECT_EQ(Tries({.allowed = false}).ends({exited(0), exited(0)}, 5s), "over: finished 0");
}

// A spot host that is about to go gets TERM, saves, and ends with 0.
TEST(RestartPolicy, TakesAHostThatSucceededAndIsGoneForLost) {
  for (const HostAfterTry& gone : {test::kRebooted, test::kReplaced}) {
    Tries tries({.restarts = 0});
    EXPECT_EQ(tries.ends({exited(0), exited(1)}, 10min), "look in 0 s");
    EXPECT_EQ(tries.looks({gone, kReady}), "prepare in 5 s");
    EXPECT_EQ(tries.policy().left(), 0U);
    tries.starts();
    EXPECT_EQ(tries.ends({exited(93), exited(1)}, 10min), "look in 0 s");
    EXPECT_EQ(tries.looks({gone, kReady}), "prepare in 5 s")
        << "a final status is one of a host that is there";
    tries.starts();
    EXPECT_EQ(tries.ends({exited(0), exited(1)}, 10min), "look in 0 s");
    EXPECT_EQ(tries.looks({kReady, gone}), "over: partly_finished 1");
  }
}

TEST(RestartPolicy, StartsAgainWhenAllHostsSucceededAndAreGone) {
  Tries tries({.restarts = 0});
  EXPECT_EQ(tries.ends({exited(0), exited(0)}, 10min), "look in 0 s, only");
  EXPECT_EQ(tries.looks({kMissing, kMissing}), "look in 5 s, only");
  tries.pass(61s);
  EXPECT_EQ(tries.looks({kMissing, kReady}), "look in 15 s, only");
  EXPECT_EQ(tries.looks({test::kRebooted, kReady}), "look in 0 s") << "and stop what is left";
  EXPECT_EQ(tries.looks({test::kRebooted, kReady}), "prepare in 0 s");
  EXPECT_EQ(tries.cause(), "rebooted");
}

TEST(RestartPolicy, IsFinishedWhenAllAnswerAgainSoonAfterSuccess) {
  Tries tries({.restarts = 0});
  tries.ends({exited(0), exited(0)}, 10min);
  EXPECT_EQ(tries.looks({kMissing, kReady}), "look in 5 s, only");
  tries.wait();
  EXPECT_EQ(tries.all_ready(), "over: finished 0");
}

TEST(RestartPolicy, BelievesAHostThatWasAwayAndIsTheSame) {
  for (const auto& [status, over] :
       {std::pair(0, "over: finished 0"), std::pair(93, "over: final_status 93")}) {
    Tries tries({.restarts = 3});
    tries.ends({exited(status), exited(status)}, 10min);
    tries.looks({kMissing, kReady});
    tries.pass(61s);
    tries.looks({kMissing, kReady});
    EXPECT_EQ(tries.all_ready(), over);
  }
  Tries tries({.restarts = 3});
  tries.ends({exited(0), exited(1)}, 10min);
  tries.pass(61s);
  tries.looks({kMissing, kReady});
  EXPECT_EQ(tries.all_ready(), "over: partly_finished 1");
}

TEST(RestartPolicy, EndsWithTheLastStatusWhenAllRestartsAreUsed) {
  Tries tries({.restarts = 2});
  EXPECT_EQ(tries.fails_and_starts(10min), "start");
  EXPECT_EQ(tries.fails_and_starts(10min), "start");
  EXPECT_EQ(tries.policy().left(), 0U);
  EXPECT_EQ(tries.fails(10min, 7), "over: restarts 7");
  EXPECT_EQ(tries.policy().restarts(), 2U);
}

TEST(RestartPolicy, DoesNotCountTheLossOfAHost) {
  Tries tries({.restarts = 0});
  EXPECT_EQ(tries.loses_a_host_and_starts(10min), "start");
  EXPECT_EQ(tries.cause(), "lost");
  tries.ends({exited(1), run::Stopped{}}, 10min);
  EXPECT_EQ(tries.looks({kReady, test::kRebooted}), "prepare in 5 s");
  EXPECT_EQ(tries.cause(), "rebooted");
  tries.starts();
  tries.ends({exited(1), run::Stopped{}}, 10min);
  EXPECT_EQ(tries.looks({kReady, test::kReplaced}), "prepare in 5 s");
  EXPECT_EQ(tries.cause(), "replaced");
  tries.starts();
  EXPECT_EQ(tries.policy().restarts(), 3U);
  EXPECT_EQ(tries.fails(10min), "over: restarts 1");
}

TEST(RestartPolicy, EndsAfterTenLossesInAnHour) {
  Tries tries({.restarts = 100});
  for (std::size_t loss = 1; loss < RestartPolicy::kLosses; ++loss)
    EXPECT_EQ(tries.loses_a_host_and_starts(5min), "start");
  EXPECT_EQ(tries.loses_a_host(5min), "over: losses 255");
}

TEST(RestartPolicy, ForgetsLossesAfterAnHour) {
  Tries tries({.restarts = 0});
  for (std::size_t loss = 0; loss < 100; ++loss)
    EXPECT_EQ(tries.loses_a_host_and_starts(400s), "start") << "nine in an hour";
}

TEST(RestartPolicy, GivesAllRestartsBackAfterALongTry) {
  Tries tries({.restarts = 2});
  EXPECT_EQ(tries.fails_and_starts(10min), "start");
  EXPECT_EQ(tries.fails_and_starts(10min), "start");
  EXPECT_EQ(tries.fails(1h), "prepare in 10 s") << "as after the first failure";
  EXPECT_EQ(tries.policy().left(), 1U);
  tries.starts();
  EXPECT_EQ(tries.fails_and_starts(1h - 1s), "start");
  EXPECT_EQ(tries.fails(1h - 1s), "over: restarts 1");
}

TEST(RestartPolicy, GivesAllRestartsBackAfterALongTryThatLostAHost) {
  Tries tries({.restarts = 1, .reset = 20min});
  EXPECT_EQ(tries.fails_and_starts(10min), "start");
  EXPECT_EQ(tries.loses_a_host_and_starts(20min), "start");
  EXPECT_EQ(tries.policy().left(), 1U);
  EXPECT_EQ(tries.fails_and_starts(10min), "start");
}

TEST(RestartPolicy, DoublesTheDelayAfterEachFailure) {
  Tries tries({.restarts = 8});
  for (const char* delay : {"10 s", "20 s", "40 s", "80 s", "160 s", "5 min", "5 min"}) {
    EXPECT_EQ(tries.fails(10min), std::string("prepare in ") + delay);
    tries.starts();
  }
  EXPECT_EQ(tries.loses_a_host(10min), "prepare in 5 s") << "not the fault of the command";
}

TEST(RestartPolicy, CountsTheWaitForHostsTowardsTheDelay) {
  Tries tries({.restarts = 3});
  EXPECT_EQ(tries.ends({exited(1), run::Stopped{}}, 10min), "look in 0 s");
  EXPECT_EQ(tries.looks({kReady, kBusy}), "look in 5 s");
  tries.wait();
  EXPECT_EQ(tries.all_ready(), "prepare in 5 s");
  tries.starts();
  EXPECT_EQ(tries.ends({exited(1), run::Stopped{}}, 10min), "look in 0 s");
  tries.pass(50s);
  EXPECT_EQ(tries.all_ready(), "prepare in 0 s");
}

TEST(RestartPolicy, EndsWhenTheFirstTryFailsAtOnce) {
  EXPECT_EQ(Tries({.restarts = 3}).fails(59s), "over: first_try 1");
  EXPECT_EQ(Tries({.restarts = 3}).fails(60s), "prepare in 10 s");
  EXPECT_EQ(Tries({.restarts = 3, .short_try = 10s}).fails(10s), "prepare in 10 s");
}

TEST(RestartPolicy, TakesATryForTheFirstUntilOneHasRunForLonger) {
  Tries tries({.restarts = 3});
  EXPECT_EQ(tries.loses_a_host_and_starts(3s), "start") << "not the fault of the command";
  EXPECT_EQ(tries.fails(3s), "over: first_try 1");
}

TEST(RestartPolicy, KnowsThatTheCommandWorksWhenALongerTryLostAHost) {
  Tries tries({.restarts = 3});
  EXPECT_EQ(tries.loses_a_host_and_starts(60s), "start");
  EXPECT_EQ(tries.fails(3s), "prepare in 10 s");
}

TEST(RestartPolicy, EndsAfterThreeShortTriesInARow) {
  Tries tries({.restarts = 100});
  EXPECT_EQ(tries.fails_and_starts(2min), "start");
  EXPECT_EQ(tries.fails_and_starts(59s), "start");
  EXPECT_EQ(tries.fails_and_starts(59s), "start");
  EXPECT_EQ(tries.fails_and_starts(60s), "start") << "not short";
  EXPECT_EQ(tries.fails_and_starts(59s), "start");
  EXPECT_EQ(tries.fails_and_starts(59s), "start");
  EXPECT_EQ(tries.fails(59s, 5), "over: crash_loop 5");
}

TEST(RestartPolicy, GivesACommandThatHasRunForLongMinutesBeforeItEnds) {
  Tries tries({.restarts = 100});
  EXPECT_EQ(tries.fails_and_starts(60min), "start");
  for (const std::string_view pause : {"20 s", "40 s", "80 s", "160 s", "5 min"}) {
    EXPECT_EQ(tries.fails(5s), fmt::format("prepare in {}", pause));
    EXPECT_EQ(tries.starts(), "start");
  }
  EXPECT_EQ(tries.fails(5s, 5), "over: crash_loop 5");
  Tries few({.restarts = 2});
  EXPECT_EQ(few.fails_and_starts(60min), "start");
  EXPECT_EQ(few.fails_and_starts(5s), "start");
  EXPECT_EQ(few.fails(5s), "over: restarts 1");
}

TEST(RestartPolicy, DoesNotTakeALostShortTryForAFailure) {
  Tries tries({.restarts = 100});
  EXPECT_EQ(tries.fails_and_starts(2min), "start");
  EXPECT_EQ(tries.fails_and_starts(5s), "start");
  EXPECT_EQ(tries.fails_and_starts(5s), "start");
  EXPECT_EQ(tries.loses_a_host_and_starts(5s), "start");
  EXPECT_EQ(tries.fails(5s), "over: crash_loop 1") << "it has not worked in between";
}

TEST(RestartPolicy, EndsAfterAFinalStatusOfAnyHost) {
  for (const int status : {93, 126, 127})
    EXPECT_EQ(Tries({.restarts = 3}).fails(10min, status), fmt::format("over: final_status {}", status));
  Tries own({.restarts = 3, .final_statuses = {42}});
  EXPECT_EQ(own.fails_and_starts(10min), "start");
  EXPECT_EQ(own.fails_and_starts(10min), "start");
  EXPECT_EQ(own.fails(10min, 42), "over: final_status 42");
}

TEST(RestartPolicy, EndsWhenAHostHasSucceeded) {
  Tries tries({.restarts = 3});
  tries.ends({exited(0), exited(134)}, 10min);
  EXPECT_EQ(tries.all_ready(), "over: partly_finished 134");
  Tries lost({.restarts = 3});
  lost.ends({exited(0), test::lost()}, 10min);
  EXPECT_EQ(lost.all_ready(), "over: partly_finished 255");
}

TEST(RestartPolicy, EndsWhenATryIsInterrupted) {
  Tries tries({.restarts = 3});
  EXPECT_EQ(tries.ends({run::Stopped{}, run::Stopped{}}, 10min, SIGINT), "over: interrupted 130");
  Tries lost({.restarts = 3});
  EXPECT_EQ(lost.ends({exited(1), test::lost()}, 10min, SIGTERM), "over: interrupted 143");
}

TEST(RestartPolicy, EndsWhenInterruptedBetweenTries) {
  Tries waiting({.restarts = 3});
  waiting.ends({exited(1), run::Stopped{}}, 10min);
  EXPECT_EQ(waiting.receives(SIGINT), "over: interrupted 130");
  Tries delayed({.restarts = 3});
  EXPECT_EQ(delayed.fails(10min), "prepare in 10 s");
  EXPECT_EQ(delayed.receives(SIGHUP), "over: interrupted 129");
}

TEST(RestartPolicy, LimitsAllTriesTogether) {
  Tries tries({.restarts = 3, .timeout = 15min});
  EXPECT_EQ(tries.policy().time_left(tries.now()), 15min);
  EXPECT_EQ(tries.fails_and_starts(10min), "start");
  EXPECT_EQ(tries.policy().time_left(tries.now()), 5min - 10s);
  EXPECT_EQ(tries.ends({run::TimedOut{5min - 10s}, run::Stopped{}}, 4min), "over: timed_out 124");
}

TEST(RestartPolicy, EndsWhenATryFailsAtItsTimeLimit) {
  Tries tries({.restarts = 3, .timeout = 10min});
  EXPECT_EQ(tries.ends({exited(1), run::Stopped{}}, 10min), "over: timed_out 1") << "as the try has said";
}

TEST(RestartPolicy, EndsWhenTheTimeIsOverBetweenTries) {
  Tries waiting({.restarts = 3, .timeout = 11min});
  waiting.ends({exited(1), run::Stopped{}}, 10min);
  waiting.pass(1min);
  EXPECT_EQ(waiting.all_ready(), "over: timed_out 124");
  Tries delayed({.restarts = 3, .timeout = 10min + 10s});
  EXPECT_EQ(delayed.fails(10min), "over: timed_out 124") << "without a delay that ends with the time";
}

TEST(RestartPolicy, HasNoTimeLimitOfItsOwn) {
  Tries tries({.restarts = 3});
  EXPECT_EQ(tries.policy().time_left(tries.now()), std::nullopt);
}

TEST(RestartPolicy, PreparesAgainInAMinuteAfterStatus75) {
  Tries tries({.restarts = 3});
  EXPECT_EQ(tries.fails(10min), "prepare in 10 s");
  tries.wait();
  EXPECT_EQ(tries.prepared(75), "prepare in 1 min");
  tries.wait();
  EXPECT_EQ(tries.prepared(0), "start");
  EXPECT_EQ(tries.policy().restarts(), 1U);
}

TEST(RestartPolicy, EndsWhenPreparationFails) {
  Tries tries({.restarts = 3});
  EXPECT_EQ(tries.fails(10min, 7), "prepare in 10 s");
  tries.wait();
  EXPECT_EQ(tries.prepared(3), "over: prepare 1");
}

TEST(RestartPolicy, AsksForPreparationAsLongAsItWaitsForHosts) {
  Tries tries({.restarts = 3, .wait_hosts = 3min});
  EXPECT_EQ(tries.fails(10min), "prepare in 10 s");
  tries.wait();
  EXPECT_EQ(tries.prepared(75), "prepare in 1 min");
  tries.wait();
  EXPECT_EQ(tries.prepared(75), "prepare in 1 min");
  tries.wait();
  EXPECT_EQ(tries.prepared(75), "over: prepare 1");
}

TEST(RestartPolicy, KnowsWhetherATryIsTheLastWhateverTheHostsSay) {
  const RestartPolicy policy({.restarts = 0}, run::TimePoint());
  const auto is_over = [&](std::vector<run::HostOutcome> outcomes) {
    return policy.is_certainly_over({.outcomes = std::move(outcomes), .ran = 1s}, run::TimePoint());
  };
  EXPECT_TRUE(is_over({run::TimedOut{}, run::Stopped{}}));
  for (const int status : {0, 1, 93})
    EXPECT_FALSE(is_over({exited(status), exited(0)})) << "a host may turn out to be rebooted";
}

}  // namespace
}  // namespace podrun::restarts
