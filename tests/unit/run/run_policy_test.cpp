// SPDX-License-Identifier: Apache-2.0
// From the first connection to the start: fan-out, barrier, batches, and Ctrl-C before it.
#include "podrun/run/run_policy.hpp"

#include <csignal>

#include <gtest/gtest.h>

#include "unit/run/policy_run.hpp"

namespace podrun::run {
namespace {

using namespace std::chrono_literals;
using test::PolicyRun;

TEST(RunPolicyStart, ConnectsNoMoreHostsAtOnceThanTheFanout) {
  PolicyRun run(5, {.fanout = 2});
  EXPECT_EQ(run.on(event::Begin{}), "connect 0, connect 1");
  EXPECT_EQ(run.ready(1), "connect 2");
  EXPECT_EQ(run.ready(0), "connect 3");
  EXPECT_EQ(run.not_ready(3), "connect 4");
}

TEST(RunPolicyStart, CountsHostsThatArePreparedOnlyIfThatIsWork) {
  PolicyRun run(3, {.fanout = 1});
  EXPECT_EQ(run.on(event::Begin{}), "connect 0");
  EXPECT_EQ(run.on(event::Reached{0}), "");
  PolicyRun all(3, {.fanout = 1, .prepares_all_at_once = true});
  EXPECT_EQ(all.on(event::Begin{}), "connect 0");
  EXPECT_EQ(all.on(event::Reached{0}), "connect 1");
  EXPECT_EQ(all.stumbles(0), "retry 0 (attempt 2)");
  EXPECT_EQ(all.on(event::Reached{1}), "connect 2");
  EXPECT_EQ(all.after(1s), "") << "host 2 is connecting";
  EXPECT_EQ(all.on(event::Reached{2}), "connect 0");
}

TEST(RunPolicyStart, BoundsNoRunningCommandsByTheFanout) {
  PolicyRun run(3, {.fanout = 1});
  EXPECT_EQ(run.start(), "go 0,1,2");
}

TEST(RunPolicyStart, StartsAllAtOnceWhenTheLastIsReady) {
  PolicyRun run(3);
  EXPECT_EQ(run.on(event::Begin{}), "connect 0, connect 1, connect 2");
  EXPECT_EQ(run.ready(2), "");
  EXPECT_EQ(run.ready(0), "");
  EXPECT_EQ(run.ready(1), "go 0,1,2");
}

TEST(RunPolicyStart, StartsASingleHostAtOnce) {
  PolicyRun run(1);
  EXPECT_EQ(run.start(), "go 0");
}

TEST(RunPolicyStart, StartsNothingWhenAHostIsNotReadyButHearsOfAllThatAreNot) {
  PolicyRun run(3, {.fanout = 1});
  run.on(event::Begin{});
  EXPECT_EQ(run.not_ready(0), "connect 1");
  EXPECT_EQ(run.ready(1), "connect 2");
  EXPECT_EQ(run.not_ready(2, "no route"), "abandon 1 (cancelled)");
  EXPECT_EQ(run.result(),
            "unreachable: connecting: connection refused, not started, unreachable: connecting: no route");
  EXPECT_EQ(run.not_ready(1, "cancelled"), "") << "what comes of the abandoned is no news";
  EXPECT_EQ(exit_status(run.policy().outcomes(), std::nullopt), 255);
}

TEST(RunPolicyStart, CountsAHostThatDiesAtTheBarrierAsUnreachable) {
  PolicyRun run(2);
  run.on(event::Begin{});
  run.ready(0);
  EXPECT_EQ(run.not_ready(0, "gone"), "");
  EXPECT_EQ(run.ready(1), "abandon 1 (cancelled)");
  EXPECT_EQ(run.result(), "unreachable: connecting: gone, not started");
}

TEST(RunPolicyStart, RunsOnTheRestWhenUnreachableHostsAreSkipped) {
  PolicyRun run(3, {.on_unreachable = OnUnreachable::skip});
  run.on(event::Begin{});
  run.ready(2);
  run.not_ready(1);
  EXPECT_EQ(run.ready(0), "go 0,2");
  run.ends(0, 0);
  run.ends(2, 0);
  EXPECT_EQ(run.result(), "ok, unreachable: connecting: connection refused, ok");
  EXPECT_EQ(exit_status(run.policy().outcomes(), std::nullopt), 255);
}

TEST(RunPolicyStart, StartsWhenTheLastThatIsNotReadyIsSkipped) {
  PolicyRun run(2, {.on_unreachable = OnUnreachable::skip});
  run.on(event::Begin{});
  run.ready(0);
  EXPECT_EQ(run.not_ready(1), "go 0");
}

TEST(RunPolicyStart, EndsWithoutAStartWhenAllAreSkipped) {
  PolicyRun run(2, {.on_unreachable = OnUnreachable::skip});
  run.on(event::Begin{});
  run.not_ready(0);
  EXPECT_EQ(run.not_ready(1), "");
  EXPECT_TRUE(run.policy().finished());
}

TEST(RunPolicyStart, AbandonsAHostThatIsNotReadyInTime) {
  PolicyRun run(2, {.fanout = 1});
  run.on(event::Begin{});
  EXPECT_EQ(run.after(10s - 1ms), "");
  EXPECT_EQ(run.after(1ms), "abandon 0 (timed out after 10 s)");
  EXPECT_EQ(run.after(1h), "") << "its own answer is awaited";
  EXPECT_EQ(run.on(event::NotReady{0,
                                   {.stage = link::Stage::key_exchange,
                                    .cause = link::Cause::timed_out,
                                    .after = std::chrono::seconds(10)}}),
            "connect 1");
  EXPECT_EQ(run.after(9s), "") << "the time of each begins with its connection";
  EXPECT_EQ(run.ready(1), "abandon 1 (cancelled)");
  EXPECT_EQ(run.result(), "unreachable: key exchange: timed out after 10 s, not started");
}

TEST(RunPolicyStart, RunsNoTimerAgainstAHostThatWaitsForTheOthers) {
  PolicyRun run(2, {.connect_timeout = 3s});
  run.on(event::Begin{});
  run.after(1s);
  run.ready(0);
  EXPECT_EQ(run.after(1s), "");
  EXPECT_EQ(run.after(1s), "abandon 1 (timed out after 3 s)");
}

TEST(RunPolicyStart, RunsOneBatchAfterTheOther) {
  PolicyRun run(5, {.serial = 2});
  EXPECT_EQ(run.on(event::Begin{}), "connect 0, connect 1");
  run.ready(1);
  EXPECT_EQ(run.ready(0), "go 0,1");
  EXPECT_EQ(run.ends(1, 0), "");
  EXPECT_EQ(run.exits(0, 0), "") << "its output is not complete";
  EXPECT_EQ(run.closes(0), "connect 2, connect 3");
  run.ready(2);
  EXPECT_EQ(run.ready(3), "go 2,3");
  run.ends(2, 0);
  EXPECT_EQ(run.ends(3, 0), "connect 4");
  EXPECT_EQ(run.ready(4), "go 4");
  run.ends(4, 0);
  EXPECT_EQ(run.result(), "ok, ok, ok, ok, ok");
}

TEST(RunPolicyStart, BoundsTheConnectionsOfABatchByTheFanout) {
  PolicyRun run(4, {.fanout = 1, .serial = 2});
  EXPECT_EQ(run.on(event::Begin{}), "connect 0");
  EXPECT_EQ(run.ready(0), "connect 1");
  EXPECT_EQ(run.ready(1), "go 0,1");
}

TEST(RunPolicyStart, StopsAtTheFirstBatchThatFails) {
  PolicyRun run(5, {.serial = 2});
  run.on(event::Begin{});
  run.ready(0);
  run.ready(1);
  EXPECT_EQ(run.ends(0, 3), "") << "the others of the batch go on";
  EXPECT_EQ(run.ends(1, 0), "");
  EXPECT_EQ(run.result(), "exit 3, ok, not started, not started, not started");
}

TEST(RunPolicyStart, StopsAtABatchWithAHostThatWasLost) {
  PolicyRun run(2, {.serial = 1});
  run.on(event::Begin{});
  run.ready(0);
  run.after(1min);
  EXPECT_EQ(run.is_lost(0), "");
  EXPECT_EQ(run.result(), "lost: running: gone, not started");
}

TEST(RunPolicyStart, StopsAtABatchWithAnUnreachableHost) {
  PolicyRun run(4, {.serial = 2});
  run.on(event::Begin{});
  run.ready(0);
  EXPECT_EQ(run.not_ready(1), "abandon 0 (cancelled)");
  EXPECT_EQ(run.result(),
            "not started, unreachable: connecting: connection refused, not started, not started");
}

TEST(RunPolicyStart, GoesOnWithTheNextBatchWhenUnreachableHostsAreSkipped) {
  PolicyRun run(6, {.serial = 2, .on_unreachable = OnUnreachable::skip});
  run.on(event::Begin{});
  run.ready(0);
  EXPECT_EQ(run.not_ready(1), "go 0");
  EXPECT_EQ(run.ends(0, 0), "connect 2, connect 3");
  run.not_ready(2);
  EXPECT_EQ(run.not_ready(3), "connect 4, connect 5") << "a whole batch of them";
}

TEST(RunPolicyStart, StopsAtAFailedBatchThoughUnreachableHostsAreSkipped) {
  PolicyRun run(4, {.serial = 2, .on_unreachable = OnUnreachable::skip});
  run.on(event::Begin{});
  run.not_ready(0);
  run.ready(1);
  EXPECT_EQ(run.ends(1, 1), "");
  EXPECT_EQ(run.result(), "unreachable: connecting: connection refused, exit 1, not started, not started");
}

TEST(RunPolicyStart, IsCancelledByAnySignal) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    PolicyRun run(4, {.fanout = 2});
    run.on(event::Begin{});
    run.ready(0);
    run.not_ready(1);
    EXPECT_EQ(run.signal(signal), "abandon 0 (cancelled), abandon 2 (cancelled), abandon 3 (cancelled)");
    EXPECT_EQ(run.result(),
              "not started, unreachable: connecting: connection refused, not started, not started");
    EXPECT_EQ(run.ready(2), "") << "too late";
    EXPECT_EQ(exit_status(run.policy().outcomes(), run.policy().interrupted_by()), 128 + signal);
  }
}

TEST(RunPolicyStart, ConnectsNoMoreHostsOnceCancelled) {
  PolicyRun run(3, {.fanout = 1});
  run.on(event::Begin{});
  EXPECT_EQ(run.signal(SIGINT), "abandon 0 (cancelled)");
  EXPECT_EQ(run.not_ready(0, "cancelled"), "");
  EXPECT_EQ(run.result(), "not started, not started, not started");
}

TEST(RunPolicyStart, BeginsNoFurtherBatchAfterAnInterrupt) {
  PolicyRun run(3, {.serial = 1});
  run.on(event::Begin{});
  run.ready(0);
  EXPECT_EQ(run.signal(SIGINT), "int 0");
  EXPECT_EQ(run.ends(0, 0), "");
  EXPECT_EQ(run.result(), "ok, not started, not started");
}

TEST(RunPolicyStart, IsCancelledWhileTheNextBatchConnects) {
  PolicyRun run(3, {.serial = 1});
  run.on(event::Begin{});
  run.ready(0);
  EXPECT_EQ(run.ends(0, 0), "connect 1");
  EXPECT_EQ(run.signal(SIGINT), "abandon 1 (cancelled)");
  EXPECT_EQ(run.result(), "ok, not started, not started");
}

}  // namespace
}  // namespace podrun::run
