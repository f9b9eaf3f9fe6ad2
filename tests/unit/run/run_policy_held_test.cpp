// SPDX-License-Identifier: Apache-2.0
// A run whose commands wait at the barrier for a word.
#include <csignal>

#include <gtest/gtest.h>

#include "unit/run/policy_run.hpp"

namespace podrun::run {
namespace {

using namespace std::chrono_literals;
using test::PolicyRun;

TEST(RunPolicyHeld, StartsWhenItIsReleased) {
  PolicyRun run(2, {.held = true});
  EXPECT_EQ(run.start(), "wait");
  EXPECT_EQ(run.after(24h), "") << "no timer runs";
  EXPECT_EQ(run.on(event::Released{}), "go 0,1");
  run.ends(0, 0);
  run.ends(1, 0);
  EXPECT_EQ(run.result(), "ok, ok");
}

TEST(RunPolicyHeld, StartsWithTheLastHostIfItWasReleasedBefore) {
  PolicyRun run(2, {.held = true});
  run.on(event::Begin{});
  EXPECT_EQ(run.on(event::Released{}), "");
  EXPECT_EQ(run.ready(1), "");
  EXPECT_EQ(run.ready(0), "go 0,1");
}

TEST(RunPolicyHeld, TriesAHostAgainThatIsLostMeanwhile) {
  PolicyRun run(2, {.retries = 1, .on_unreachable = OnUnreachable::skip, .held = true});
  run.start();
  EXPECT_EQ(run.stumbles(1), "retry 1 (attempt 2)");
  EXPECT_EQ(run.on(event::Released{}), "") << "the other attempt is under way";
  EXPECT_EQ(run.after(2s), "connect 1");
  EXPECT_EQ(run.ready(1), "go 0,1");
}

TEST(RunPolicyHeld, TriesAHostAgainForAsLongAsItWaits) {
  PolicyRun run(2, {.retries = 1, .on_unreachable = OnUnreachable::skip, .held = true});
  run.start();
  run.stumbles(1);
  for (int attempt = 2; attempt < 20; ++attempt) {
    EXPECT_EQ(run.after(9s), "connect 1");
    EXPECT_EQ(run.stumbles(1), fmt::format("retry 1 (attempt {})", attempt + 1));
  }
  EXPECT_EQ(run.on(event::Released{}), "");
  EXPECT_EQ(run.after(0s), "connect 1") << "at once, when it is wanted";
  EXPECT_EQ(run.stumbles(1), "retry 1 (attempt 2)");
  EXPECT_EQ(run.after(9s), "connect 1");
  EXPECT_EQ(run.stumbles(1), "go 0");
}

TEST(RunPolicyHeld, TriesAHostAgainWhoseServerClosesTheConnection) {
  PolicyRun run(1, {.retries = 0, .on_unreachable = OnUnreachable::skip, .held = true});
  run.start();
  const auto loses = [&run] {
    return run.on(event::NotReady{0, {link::Stage::connection, link::Cause::closed}});
  };
  EXPECT_EQ(loses(), "retry 0 (attempt 2)");
  run.after(9s);
  EXPECT_EQ(loses(), "retry 0 (attempt 3)") << "before it is ready again";
}

TEST(RunPolicyHeld, CountsTheAttemptsFromTheWordOn) {
  PolicyRun run(2, {.retries = 1, .on_unreachable = OnUnreachable::skip, .held = true});
  run.start();
  run.stumbles(1);
  run.after(9s);
  run.on(event::Released{});
  EXPECT_EQ(run.stumbles(1), "retry 1 (attempt 2)");
  EXPECT_EQ(run.after(9s), "connect 1");
  EXPECT_EQ(run.ready(1), "go 0,1");
}

TEST(RunPolicyHeld, GivesUpAHostThatWasNeverReady) {
  PolicyRun run(2, {.retries = 1, .on_unreachable = OnUnreachable::skip, .held = true});
  run.on(event::Begin{});
  run.ready(0);
  run.stumbles(1);
  run.after(9s);
  EXPECT_EQ(run.stumbles(1), "wait");
}

TEST(RunPolicyHeld, WaitsOnceForTheWord) {
  PolicyRun run(2, {.retries = 1, .on_unreachable = OnUnreachable::skip, .held = true});
  run.start();
  run.stumbles(1);
  run.after(2s);
  EXPECT_EQ(run.ready(1), "");
}

TEST(RunPolicyHeld, EndsWhenNoHostIsLeft) {
  PolicyRun run(2, {.on_unreachable = OnUnreachable::skip, .held = true});
  run.start();
  EXPECT_EQ(run.not_ready(0), "");
  EXPECT_EQ(run.not_ready(1), "");
  EXPECT_EQ(run.result(),
            "unreachable: connecting: connection refused, unreachable: connecting: connection refused");
}

TEST(RunPolicyHeld, StartsNothingWhenItIsCancelled) {
  PolicyRun run(3, {.on_unreachable = OnUnreachable::skip, .held = true});
  run.start();
  run.not_ready(1);
  EXPECT_EQ(run.on(event::Cancelled{}), "abandon 0 (cancelled), abandon 2 (cancelled)");
  EXPECT_EQ(run.result(), "not started, unreachable: connecting: connection refused, not started");
  EXPECT_EQ(run.policy().interrupted_by(), std::nullopt);
}

}  // namespace
}  // namespace podrun::run
