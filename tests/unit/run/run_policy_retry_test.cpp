// SPDX-License-Identifier: Apache-2.0
// Hosts that are connected again, and runs that are given up meanwhile.
#include <csignal>
#include <set>

#include <gtest/gtest.h>

#include "podrun/run/run_policy.hpp"

#include "unit/run/policy_run.hpp"

namespace podrun::run {
namespace {

using namespace std::chrono_literals;
using test::PolicyRun;

constexpr link::StageWords kReading{"reading", "reading"};
constexpr link::StageWords kWatching{.identifier = "watching", .words = "watching", .is_answer = false};

TEST(RunPolicyRetry, ConnectsAgainWhereThatMayHelp) {
  PolicyRun run(2);
  run.on(event::Begin{});
  run.ready(1);
  EXPECT_EQ(run.stumbles(0), "retry 0 (attempt 2)");
  EXPECT_EQ(run.after(499ms), "");
  EXPECT_EQ(run.after(501ms), "connect 0");
  EXPECT_EQ(run.ready(0), "go 0,1");
  run.ends(0, 0);
  run.ends(1, 0);
  EXPECT_EQ(run.result(), "ok, ok");
}

TEST(RunPolicyRetry, NeverConnectsAgainAfterALoginThatFailed) {
  PolicyRun run(1);
  run.on(event::Begin{});
  EXPECT_EQ(run.on(event::NotReady{0, {link::Stage::login, link::Cause::permission_denied}}), "");
  EXPECT_EQ(run.after(1h), "");
  EXPECT_EQ(run.result(), "unreachable: login: permission denied");
}

TEST(RunPolicyRetry, GivesUpWhenTheRetriesAreUsedUp) {
  PolicyRun run(1);
  run.on(event::Begin{});
  EXPECT_EQ(run.stumbles(0), "retry 0 (attempt 2)");
  EXPECT_EQ(run.after(1s), "connect 0");
  EXPECT_EQ(run.stumbles(0), "retry 0 (attempt 3)");
  EXPECT_EQ(run.after(2s), "connect 0");
  EXPECT_EQ(run.stumbles(0, "no route"), "");
  EXPECT_EQ(run.result(), "unreachable: connecting: no route (3 attempts)");
  EXPECT_EQ(exit_status(run.policy().outcomes(), std::nullopt), 255);
}

TEST(RunPolicyRetry, GoesOnForeverWithAPreparationThatWasInterrupted) {
  PolicyRun run(2, {.retries = 0, .on_unreachable = OnUnreachable::skip, .resumes = true});
  run.on(event::Begin{});
  run.on(event::Reached{0});
  run.on(event::Reached{1});
  EXPECT_EQ(run.ready(1), "");
  const auto loses = [&run](std::size_t host) {
    return run.on(event::NotReady{host, {link::Stage::connection, link::Cause::closed}});
  };
  EXPECT_EQ(loses(0), "retry 0 (attempt 2)");
  for (int attempt = 3; attempt < 20; ++attempt) {
    EXPECT_EQ(run.after(8s), "connect 0");
    EXPECT_EQ(run.stumbles(0), fmt::format("retry 0 (attempt {})", attempt));
  }
  run.after(8s);
  EXPECT_EQ(loses(0), "retry 0 (attempt 20)") << "between its login and the preparation";
  run.after(8s);
  run.on(event::Reached{0});
  EXPECT_EQ(loses(1), "retry 1 (attempt 2)") << "one that has nothing more to do";
  EXPECT_EQ(loses(0), "retry 0 (attempt 2)") << "it counts from the start";
  run.after(2s);
  EXPECT_EQ(run.on(event::NotReady{1, {link::Stage::login, link::Cause::permission_denied}}), "");
  run.on(event::Reached{0});
  EXPECT_EQ(run.on(event::NotReady{0, {kReading, link::Cause::file_missing, "no job"}}), "");
  EXPECT_EQ(run.result(), "not ready: reading: no job, unreachable: login: permission denied (2 attempts)");
}

TEST(RunPolicyRetry, GoesOnAfterAFailureThatIsNoAnswer) {
  PolicyRun run(1, {.retries = 0, .on_unreachable = OnUnreachable::skip, .resumes = true});
  run.on(event::Begin{});
  run.on(event::Reached{0});
  EXPECT_EQ(run.on(event::NotReady{0, {kWatching, link::Cause::ended_early}}), "retry 0 (attempt 2)");
  run.after(8s);
  run.on(event::Reached{0});
  EXPECT_EQ(run.on(event::NotReady{0, {kWatching, link::Cause::flood}}), "");
  EXPECT_EQ(run.result(), "unreachable: watching: the output does not stop though podrun takes none");
}

TEST(RunPolicyRetry, NeverGoesOnWithAHostThatWasNotReached) {
  PolicyRun run(1, {.retries = 0, .on_unreachable = OnUnreachable::skip, .resumes = true});
  run.on(event::Begin{});
  EXPECT_EQ(run.stumbles(0), "");
  EXPECT_EQ(run.result(), "unreachable: connecting: connection reset");
}

TEST(RunPolicyRetry, TriesOnceWithoutRetries) {
  PolicyRun run(1, {.retries = 0});
  run.on(event::Begin{});
  EXPECT_EQ(run.stumbles(0), "");
  EXPECT_EQ(run.result(), "unreachable: connecting: connection reset");
}

TEST(RunPolicyRetry, WaitsLongerEachTimeAndForEachHostDifferently) {
  constexpr std::array kLongest{1s, 2s, 4s, 8s, 8s, 8s};
  std::array<std::set<std::chrono::milliseconds>, kLongest.size()> seen;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RunPolicy policy(1, {.retries = kLongest.size()}, seed);
    TimePoint now{1h};
    policy.on(event::Begin{}, now);
    for (std::size_t i = 0; i < kLongest.size(); ++i) {
      const auto actions = policy.on(
          event::NotReady{0, {link::Stage::connecting, link::Cause::reset, "reset", link::Retry::may_help}},
          now);
      const auto& later = std::get<action::ConnectLater>(actions.at(0));
      EXPECT_GE(later.delay, kLongest[i] / 2.0);
      EXPECT_LE(later.delay, kLongest[i]);
      EXPECT_EQ(policy.deadline(), now + later.delay);
      seen[i].insert(later.delay);
      now += later.delay;
      policy.on(event::Tick{}, now);
    }
  }
  for (const auto& delays : seen) EXPECT_GT(delays.size(), 40U);
}

TEST(RunPolicyRetry, OutwaitsAServerThatTurnsThisAddressAway) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    RunPolicy policy(1, {}, seed);
    TimePoint now{1h};
    const TimePoint begin = now;
    policy.on(event::Begin{}, now);
    const link::Failure away{link::Stage::ssh_banner, link::Cause::closed, "it says \"Not allowed\"",
                             link::Retry::may_help};
    const auto first = std::get<action::ConnectLater>(policy.on(event::NotReady{0, away}, now).at(0));
    EXPECT_GE(first.delay, 2s) << "later than after a reset";
    EXPECT_LE(first.delay, 4s);
    now += first.delay;
    policy.on(event::Tick{}, now);
    now += std::get<action::ConnectLater>(policy.on(event::NotReady{0, away}, now).at(0)).delay;
    EXPECT_GE(now - begin, 20s) << "sshd does not do it for longer by default";
    EXPECT_LE(now - begin, 25s);
  }
}

TEST(RunPolicyRetry, CountsNoHostThatWaitsAgainstTheFanout) {
  PolicyRun run(3, {.fanout = 1});
  run.on(event::Begin{});
  EXPECT_EQ(run.stumbles(0), "retry 0 (attempt 2), connect 1");
  EXPECT_EQ(run.after(1s), "") << "its turn is to come";
  EXPECT_EQ(run.ready(1), "connect 2");
  EXPECT_EQ(run.ready(2), "connect 0");
  EXPECT_EQ(run.after(9s), "") << "the time of an attempt begins with it";
  EXPECT_EQ(run.after(1s), "abandon 0 (timed out after 10 s)");
}

TEST(RunPolicyRetry, RetriesAnAttemptThatTimedOutEachWithItsOwnTime) {
  RunPolicy policy(1, {.connect_timeout = 3s}, 0);
  TimePoint now{1h};
  policy.on(event::Begin{}, now);
  for (std::size_t attempt = 1; attempt <= 3; ++attempt) {
    EXPECT_EQ(policy.deadline(), now + 3s);
    now += 3s;
    const auto abandoned = policy.on(event::Tick{}, now);
    const link::Failure& failure = std::get<action::Abandon>(abandoned.at(0)).failure;
    EXPECT_EQ(policy.deadline(), std::nullopt) << "its own answer is awaited";
    policy.on(event::NotReady{0, link::at_stage(failure, link::Stage::key_exchange)}, now);
    if (attempt == 3) break;
    now = *policy.deadline();
    policy.on(event::Tick{}, now);
  }
  EXPECT_EQ(report::describe(policy.outcomes()[0]),
            "unreachable: key exchange: timed out after 3 s (3 attempts)");
}

TEST(RunPolicyRetry, ConnectsAgainToAHostThatIsLostAtTheBarrier) {
  PolicyRun run(2);
  run.on(event::Begin{});
  run.ready(0);
  EXPECT_EQ(run.stumbles(0), "retry 0 (attempt 2)");
  EXPECT_EQ(run.ready(1), "") << "one is not decided";
  EXPECT_EQ(run.after(1s), "connect 0");
  EXPECT_EQ(run.ready(0), "go 0,1");
}

TEST(RunPolicyRetry, NeverConnectsAgainOnceACommandMayHaveStarted) {
  const link::Failure reset{link::Stage::running, link::Cause::reset, "", link::Retry::may_help};
  PolicyRun run(1);
  run.start();
  EXPECT_EQ(run.on(event::LostHost{0, reset}), "");
  EXPECT_EQ(run.after(1h), "");
  EXPECT_EQ(run.result(), "lost: running: connection reset");
  PolicyRun crossed(1);
  crossed.start();
  EXPECT_EQ(crossed.on(event::NotReady{0, reset}), "") << "it was told to go just then";
  EXPECT_EQ(crossed.result(), "lost: running: connection reset");
}

TEST(RunPolicyRetry, RetriesNoHostOfARunThatWillNotStart) {
  PolicyRun run(4);
  run.on(event::Begin{});
  EXPECT_EQ(run.stumbles(0), "retry 0 (attempt 2)");
  EXPECT_EQ(run.stumbles(1), "retry 1 (attempt 2)");
  run.after(1s);
  EXPECT_EQ(run.stumbles(1), "retry 1 (attempt 3)");
  EXPECT_EQ(run.not_ready(2, "no route"), "");
  EXPECT_EQ(run.after(10s), "abandon 3 (timed out after 10 s), abandon 0 (timed out after 10 s)")
      << "attempts that are under way go on";
  EXPECT_EQ(run.stumbles(3, "timed out"), "");
  EXPECT_EQ(run.stumbles(0, "timed out"), "");
  EXPECT_EQ(run.result(),
            "unreachable: connecting: timed out (2 attempts), "
            "unreachable: connecting: connection reset (2 attempts), "
            "unreachable: connecting: no route, unreachable: connecting: timed out");
}

TEST(RunPolicyRetry, StillMakesEveryFirstAttemptSoThatTheEndNamesAllThatFail) {
  PolicyRun run(4, {.fanout = 1});
  run.on(event::Begin{});
  EXPECT_EQ(run.stumbles(0), "retry 0 (attempt 2), connect 1");
  run.after(1s);
  EXPECT_EQ(run.not_ready(1), "connect 2") << "and not 0, though it was its turn";
  EXPECT_EQ(run.stumbles(2), "connect 3");
  EXPECT_EQ(run.ready(3), "abandon 3 (cancelled)");
  EXPECT_EQ(run.result(),
            "unreachable: connecting: connection reset, unreachable: connecting: connection refused, "
            "unreachable: connecting: connection reset, not started");
}

TEST(RunPolicyRetry, GoesOnWithTheRetriesWhenUnreachableHostsAreSkipped) {
  PolicyRun run(3, {.on_unreachable = OnUnreachable::skip});
  run.on(event::Begin{});
  run.stumbles(0);
  run.ready(1);
  EXPECT_EQ(run.not_ready(2), "") << "one is not decided";
  EXPECT_EQ(run.after(1s), "connect 0");
  EXPECT_EQ(run.ready(0), "go 0,1");
}

TEST(RunPolicyRetry, RunsOnTheRestWhenTheRetriesOfOthersAreUsedUp) {
  PolicyRun run(2, {.retries = 1, .on_unreachable = OnUnreachable::skip});
  run.on(event::Begin{});
  run.ready(1);
  run.stumbles(0);
  run.after(1s);
  EXPECT_EQ(run.stumbles(0), "go 1");
  EXPECT_EQ(run.outcomes(), "unreachable: connecting: connection reset (2 attempts), not started");
}

TEST(RunPolicyRetry, RetriesWithinABatch) {
  PolicyRun run(2, {.serial = 1});
  run.on(event::Begin{});
  run.stumbles(0);
  EXPECT_EQ(run.after(1s), "connect 0");
  EXPECT_EQ(run.ready(0), "go 0");
  EXPECT_EQ(run.ends(0, 0), "connect 1");
  EXPECT_EQ(run.stumbles(1), "retry 1 (attempt 2)") << "each host has its own attempts";
  EXPECT_EQ(run.after(1s), "connect 1");
  EXPECT_EQ(run.ready(1), "go 1");
}

TEST(RunPolicyRetry, DropsWaitingRetriesWhenInterrupted) {
  PolicyRun run(4, {.fanout = 2});
  run.on(event::Begin{});
  run.stumbles(0);
  run.stumbles(1);
  run.after(1s);
  run.ready(2);
  run.ready(3);
  run.stumbles(0);
  EXPECT_EQ(run.signal(SIGINT), "abandon 1 (cancelled), abandon 2 (cancelled), abandon 3 (cancelled)");
  EXPECT_EQ(
      run.result(),
      "unreachable: connecting: connection reset (2 attempts), unreachable: connecting: connection reset, "
      "not started, not started")
      << "what is known of them";
  EXPECT_EQ(run.policy().deadline(), std::nullopt);
  EXPECT_EQ(run.stumbles(1, "cancelled"), "");
}

TEST(RunPolicyRetry, StartsNothingBeforeAQuestionIsAnswered) {
  for (const OnUnreachable on_unreachable : {OnUnreachable::stop, OnUnreachable::skip}) {
    PolicyRun run(4, {.fanout = 3, .on_unreachable = on_unreachable, .questions = Questions::can_be_asked});
    run.on(event::Begin{});
    run.stumbles(0);
    EXPECT_EQ(run.asks(1), "") << "and nobody is connected again meanwhile";
    EXPECT_EQ(run.asks(2), "") << "but every question is found";
    EXPECT_EQ(run.ready(3), "abandon 3 (cancelled)");
    EXPECT_EQ(run.result(),
              "unreachable: connecting: connection reset, unreachable: host key: the host key is not known, "
              "unreachable: host key: the host key is not known, not started");
  }
}

TEST(RunPolicyRetry, BeginsNoFurtherBatchAfterAQuestion) {
  PolicyRun run(3,
                {.serial = 1, .on_unreachable = OnUnreachable::skip, .questions = Questions::can_be_asked});
  run.on(event::Begin{});
  run.ready(0);
  EXPECT_EQ(run.ends(0, 0), "connect 1");
  EXPECT_EQ(run.asks(1), "");
  EXPECT_EQ(run.result(), "ok, unreachable: host key: the host key is not known, not started");
}

TEST(RunPolicyRetry, WaitsNoTimeWhilePodrunIsStopped) {
  PolicyRun run(1);
  run.on(event::Begin{});
  run.stumbles(0);
  run.on(event::Suspended{});
  EXPECT_EQ(run.after(1h), "");
  run.on(event::Resumed{});
  EXPECT_EQ(run.after(499ms), "");
  EXPECT_EQ(run.after(501ms), "connect 0");
}

TEST(RunPolicyRetry, PreparesNoHostAnyFurtherWhenAnotherIsGivenUp) {
  PolicyRun run(4, {.retries = 0});
  run.on(event::Begin{});
  run.on(event::Reached{0});
  run.on(event::Reached{1});
  EXPECT_EQ(run.not_ready(1), "abandon 0 (cancelled)");
  EXPECT_EQ(run.on(event::Reached{2}), "abandon 2 (cancelled)");
  EXPECT_EQ(run.not_ready(3), "") << "its first attempt went on, so that it is named";
  EXPECT_TRUE(run.policy().finished());
}

}  // namespace
}  // namespace podrun::run
