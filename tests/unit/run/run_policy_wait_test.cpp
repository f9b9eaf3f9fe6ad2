// SPDX-License-Identifier: Apache-2.0
// Hosts that are not up yet, and a run that waits for them.
#include <csignal>

#include <gtest/gtest.h>

#include "podrun/run/run_policy.hpp"
#include "podrun/supervisor/protocol.hpp"

#include "unit/run/policy_run.hpp"

namespace podrun::run {
namespace {

using namespace std::chrono_literals;
using test::PolicyRun;

constexpr Limits kWaiting{.wait = 60s, .on_unreachable = OnUnreachable::skip};

TEST(RunPolicyWait, ConnectsAgainUntilTheLastOneIsUp) {
  PolicyRun run(2, kWaiting);
  run.on(event::Begin{});
  run.ready(1);
  for (int attempt = 2; attempt < 8; ++attempt) {
    EXPECT_EQ(run.stumbles(0), "retry 0 (attempt " + std::to_string(attempt) + ")");
    EXPECT_EQ(run.after(8s), "connect 0");
  }
  EXPECT_EQ(run.ready(0), "go 0,1");
}

TEST(RunPolicyWait, TriesOnceMoreAtItsEndAndGoesOnWithoutTheHost) {
  PolicyRun run(2, {.wait = 3s, .on_unreachable = OnUnreachable::skip});
  run.on(event::Begin{});
  run.ready(1);
  run.stumbles(0);
  run.after(2900ms);  // it was connected again and is slow to answer
  EXPECT_EQ(run.stumbles(0), "retry 0 (attempt 3)");
  EXPECT_EQ(run.after(100ms), "connect 0");
  EXPECT_EQ(run.stumbles(0), "go 1");
  run.ends(1, 0);
  EXPECT_EQ(run.result(), "unreachable: connecting: connection reset (3 attempts), ok");
}

TEST(RunPolicyWait, NeverEndsIfItIsForever) {
  PolicyRun run(1, {.wait = kForever, .on_unreachable = OnUnreachable::skip});
  run.on(event::Begin{});
  run.on(event::Reached{0});
  EXPECT_EQ(run.after(std::chrono::years(5)), "");
  EXPECT_EQ(run.stumbles(0), "retry 0 (attempt 2)");
  EXPECT_EQ(run.after(1s), "connect 0");
}

TEST(RunPolicyWait, WaitsForAHostThatIsReachedAndHasNoShellYet) {
  PolicyRun run(1, kWaiting);
  run.on(event::Begin{});
  EXPECT_EQ(run.on(event::NotReady{0, {link::Stage::starting_shell, link::Cause::ended_early}}),
            "retry 0 (attempt 2)");
}

TEST(RunPolicyWait, WaitsForAReadyHostThatGoesDownAgain) {
  PolicyRun run(2, kWaiting);
  run.on(event::Begin{});
  run.ready(0);
  EXPECT_EQ(run.stumbles(0), "retry 0 (attempt 2)");
  EXPECT_EQ(run.ready(1), "");
  run.after(1s);
  EXPECT_EQ(run.ready(0), "go 0,1");
}

TEST(RunPolicyWait, DoesNotWaitForWhatWillNotPass) {
  PolicyRun run(2, kWaiting);
  run.on(event::Begin{});
  run.ready(1);
  EXPECT_EQ(run.on(event::NotReady{0, {link::Stage::login, link::Cause::permission_denied}}), "go 1");
}

TEST(RunPolicyWait, EndsAtOnceWhenInterrupted) {
  PolicyRun run(2, kWaiting);
  run.on(event::Begin{});
  run.ready(1);
  run.stumbles(0);
  EXPECT_EQ(run.signal(SIGINT), "abandon 1 (cancelled)");
  EXPECT_TRUE(run.policy().finished());
}

}  // namespace
}  // namespace podrun::run
