// SPDX-License-Identifier: Apache-2.0
// No timer runs against a host while podrun does not read from it, nor while podrun is suspended.
#include <csignal>

#include <gtest/gtest.h>

#include "podrun/run/run_policy.hpp"

#include "unit/run/policy_run.hpp"

namespace podrun::run {
namespace {

using namespace std::chrono_literals;
using test::PolicyRun;

TEST(RunPolicyTime, IsNotCountedWhileAHostIsPrepared) {
  PolicyRun run(2, {.connect_timeout = 5s, .retries = 0});
  run.on(event::Begin{});
  run.on(event::Reached{0});
  run.on(event::Reached{1});
  EXPECT_EQ(run.after(1h), "");
}

TEST(RunPolicyTime, StandsStillForACommandThatIsPaused) {
  PolicyRun run(2, {.timeout = 5s});
  run.start();
  run.after(3s);
  run.on(event::ReadingPaused{0});
  EXPECT_EQ(run.after(2s), "end 1");
  run.ends(1, 143);
  EXPECT_EQ(run.after(1h), "");
  run.on(event::ReadingResumed{0});
  EXPECT_EQ(run.after(2s - 1ms), "") << "the time that was left";
  EXPECT_EQ(run.after(1ms), "end 0");
}

TEST(RunPolicyTime, CountsTimeThatTheReaderDidNotTake) {
  PolicyRun run(1, {.timeout = 5s});
  run.start();
  run.on(event::ReadingPaused{0});
  run.after(3s);
  run.on(event::ReadingResumed{0, 1s});
  EXPECT_EQ(run.after(3s - 1ms), "") << "two of the three seconds are gone";
  EXPECT_EQ(run.after(1ms), "end 0");
}

TEST(RunPolicyTime, IsOverAtOnceWhereMoreThanWasLeftIsGone) {
  PolicyRun run(1, {.timeout = 5s});
  run.start();
  run.on(event::ReadingPaused{0});
  run.after(1h);
  run.on(event::ReadingResumed{0, 1s});
  EXPECT_EQ(run.after(0s), "end 0");
}

TEST(RunPolicyTime, DoesNotCountASuspensionDuringAPause) {
  PolicyRun run(1, {.timeout = 5s});
  run.start();
  run.on(event::ReadingPaused{0});
  run.after(1s);
  run.on(event::Suspended{});
  run.after(1h);
  run.on(event::Resumed{});
  run.after(1s);
  run.on(event::ReadingResumed{0, 0s});
  EXPECT_EQ(run.after(3s - 1ms), "");
  EXPECT_EQ(run.after(1ms), "end 0");
}

TEST(RunPolicyTime, StandsStillForAStoppingHostThatIsPaused) {
  PolicyRun run(1);
  run.start();
  run.on(event::ReadingPaused{0});
  EXPECT_EQ(run.signal(SIGTERM), "end 0");
  EXPECT_EQ(run.after(1h), "");
  run.on(event::ReadingResumed{0});
  EXPECT_EQ(run.after(15s - 1ms), "");
  EXPECT_EQ(run.after(1ms), "abandon 0 (did not stop within 15 s)");
}

TEST(RunPolicyTime, StandsStillForAnOpenOutputThatIsPaused) {
  PolicyRun run(1);
  run.start();
  run.exits(0, 0);
  run.after(1s);
  run.on(event::ReadingPaused{0});
  EXPECT_EQ(run.after(1h), "");
  run.on(event::ReadingResumed{0});
  EXPECT_EQ(run.after(1s), "let go 0");
}

TEST(RunPolicyTime, StandsStillForALingeringHostThatIsPaused) {
  PolicyRun run(1, {.timeout = 90s});
  run.start();
  run.after(3s);
  run.on(event::Suspended{});
  run.after(1h);
  run.on(event::Resumed{});
  run.exits(0, 0);
  EXPECT_EQ(run.after(2s), "let go 0");
  run.lingers(0);
  run.on(event::ReadingPaused{0});
  EXPECT_EQ(run.after(1h), "");
  run.on(event::ReadingResumed{0});
  EXPECT_EQ(run.after(60s), "let go 0");
  run.lingers(0);
  EXPECT_EQ(run.after(25s - 1ms), "");
  EXPECT_EQ(run.after(1ms), "end 0") << "90 s in all";
}

TEST(RunPolicyTime, StandsStillForAHostThatPrintsMuchBeforeItIsReady) {
  PolicyRun run(1);
  run.on(event::Begin{});
  run.on(event::ReadingPaused{0});
  EXPECT_EQ(run.after(1h), "");
  run.on(event::ReadingResumed{0});
  EXPECT_EQ(run.after(10s), "abandon 0 (timed out after 10 s)");
}

TEST(RunPolicyTime, StandsStillForAllWhilePodrunIsStopped) {
  PolicyRun run(3, {.timeout = 5s});
  run.start();
  run.exits(1, 0);
  run.after(1s);
  run.on(event::ReadingPaused{2});
  run.on(event::Suspended{});
  EXPECT_EQ(run.policy().deadline(), std::nullopt);
  EXPECT_EQ(run.after(1h), "");
  run.on(event::Resumed{});
  EXPECT_EQ(run.after(1s), "let go 1");
  EXPECT_EQ(run.after(3s), "end 0");
  EXPECT_EQ(run.after(1h), "abandon 0 (did not stop within 15 s)");
  run.on(event::ReadingResumed{2});
  EXPECT_EQ(run.after(4s), "end 2");
}

TEST(RunPolicyTime, StandsStillForAHostReleasedWhilePodrunIsStopped) {
  PolicyRun run(1, {.timeout = 5s});
  run.start();
  run.on(event::ReadingPaused{0});
  run.on(event::Suspended{});
  run.on(event::ReadingResumed{0});
  EXPECT_EQ(run.after(1h), "");
  run.on(event::Resumed{});
  EXPECT_EQ(run.after(5s - 1ms), "");
  EXPECT_EQ(run.after(1ms), "end 0");
}

TEST(RunPolicyTime, BeginsAnEndOnlyWhenPodrunGoesOn) {
  PolicyRun run(1);
  run.start();
  run.on(event::Suspended{});
  EXPECT_EQ(run.signal(SIGTERM), "end 0");
  EXPECT_EQ(run.after(1h), "");
  run.on(event::Resumed{});
  EXPECT_EQ(run.after(15s), "abandon 0 (did not stop within 15 s)");
}

TEST(RunPolicyTime, DoesNothingAtATickThatComesEarly) {
  PolicyRun run(1, {.timeout = 5s});
  run.start();
  EXPECT_EQ(run.on(event::Tick{}), "");
  EXPECT_EQ(run.after(5s), "end 0");
}

}  // namespace
}  // namespace podrun::run
