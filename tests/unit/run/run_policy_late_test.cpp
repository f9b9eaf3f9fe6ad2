// SPDX-License-Identifier: Apache-2.0
// Runs that do not wait for hosts that hang.
#include <csignal>

#include <gtest/gtest.h>

#include "podrun/run/run_policy.hpp"

#include "unit/run/policy_run.hpp"

namespace podrun::run {
namespace {

using namespace std::chrono_literals;
using test::PolicyRun;

Limits limits() {
  return {.connect_timeout = 10s,
          .retries_timeouts = false,
          .on_unreachable = OnUnreachable::skip,
          .may_wait_for_each_other = false,
          .late_after = 3s};
}

/// Two hosts have answered, and host 2 hangs.
PolicyRun two_of_three() {
  PolicyRun run(3, limits());
  run.on(event::Begin{});
  run.ready(0);
  run.ready(1);
  EXPECT_EQ(run.after(3s), "go 0,1");
  EXPECT_EQ(run.ends(0, 0), "");
  EXPECT_EQ(run.ends(1, 0), "late 2");
  return run;
}

TEST(RunPolicyLate, StartsAllTogetherWhereNoneIsLate) {
  PolicyRun run(3, limits());
  run.on(event::Begin{});
  EXPECT_EQ(run.after(2s), "");
  run.ready(0);
  EXPECT_EQ(run.after(2s), "");
  run.ready(1);
  EXPECT_EQ(run.after(2999ms), "");
  EXPECT_EQ(run.ready(2), "go 0,1,2");
}

TEST(RunPolicyLate, StartsWithoutALateHostAndThenTheLateOneAtOnce) {
  PolicyRun run = two_of_three();
  EXPECT_EQ(run.after(2s), "");
  EXPECT_EQ(run.ready(2), "go 2");
  EXPECT_EQ(run.ends(2, 0), "");
  EXPECT_EQ(run.result(), "ok, ok, ok");
  EXPECT_EQ(run.policy().deadline(), std::nullopt);
}

TEST(RunPolicyLate, TellsOfLateHostsOnceTheOthersAreOver) {
  PolicyRun run(2, limits());
  run.on(event::Begin{});
  run.ready(0);
  EXPECT_EQ(run.after(3s), "go 0");
  EXPECT_EQ(run.after(4s), "");  // its command goes on
  EXPECT_EQ(run.ends(0, 0), "late 1");
}

TEST(RunPolicyLate, TellsAgainOfThoseThatAreStillLate) {
  PolicyRun run(3, limits());
  run.on(event::Begin{});
  run.ready(0);
  run.after(3s);
  EXPECT_EQ(run.ends(0, 0), "late 1,2");
  EXPECT_EQ(run.ready(1), "go 1");
  EXPECT_EQ(run.ends(1, 0), "");
  EXPECT_EQ(run.after(3s), "late 2");
}

TEST(RunPolicyLate, MakesOneAttemptWithAHostThatIsSilent) {
  PolicyRun run = two_of_three();
  EXPECT_EQ(run.after(7s), "abandon 2 (timed out after 10 s)");
  EXPECT_EQ(run.on(event::NotReady{2,
                                   {.stage = link::Stage::connecting,
                                    .cause = link::Cause::timed_out,
                                    .retry = link::Retry::may_help,
                                    .after = 10s}}),
            "");
  EXPECT_EQ(run.result(), "ok, ok, unreachable: connecting: timed out after 10 s");
}

TEST(RunPolicyLate, RetriesAHostThatFailsAtOnce) {
  PolicyRun run(2, limits());
  run.on(event::Begin{});
  run.ready(0);
  EXPECT_EQ(run.stumbles(1), "retry 1 (attempt 2)");
  EXPECT_EQ(run.after(1s), "connect 1");
  EXPECT_EQ(run.ready(1), "go 0,1");
}

TEST(RunPolicyLate, CtrlCGoesOnWithoutThem) {
  PolicyRun run = two_of_three();
  EXPECT_EQ(run.signal(SIGINT), "abandon 2 (cancelled (Ctrl-C))");
  EXPECT_EQ(run.on(event::NotReady{
                2, {.stage = link::Stage::ssh_banner, .cause = link::Cause::cancelled, .detail = "Ctrl-C"}}),
            "");
  EXPECT_EQ(run.result(), "ok, ok, unreachable: SSH banner: cancelled (Ctrl-C)");
  EXPECT_EQ(run.policy().interrupted_by(), std::nullopt);
  EXPECT_EQ(exit_status(run.policy().outcomes(), run.policy().interrupted_by()), 255);
}

TEST(RunPolicyLate, CtrlCAlsoNamesHostsWhoseTurnHasNotCome) {
  Limits few = limits();
  few.fanout = 1;
  PolicyRun run(3, few);
  run.on(event::Begin{});
  EXPECT_EQ(run.ready(0), "connect 1");
  EXPECT_EQ(run.after(3s), "go 0");
  EXPECT_EQ(run.ends(0, 0), "late 1,2");
  EXPECT_EQ(run.signal(SIGINT), "abandon 1 (cancelled (Ctrl-C))");
  run.on(event::NotReady{1, {.stage = link::Stage::connecting, .cause = link::Cause::cancelled}});
  EXPECT_TRUE(std::holds_alternative<Unreachable>(run.policy().outcomes()[2]));
  EXPECT_TRUE(run.policy().finished());
}

TEST(RunPolicyLate, ASecondCtrlCEndsTheRun) {
  PolicyRun run = two_of_three();
  run.signal(SIGINT);
  run.signal(SIGINT);
  EXPECT_EQ(run.policy().interrupted_by(), SIGINT);
  EXPECT_TRUE(run.policy().finished());
}

TEST(RunPolicyLate, CtrlCBeforeTheOfferEndsTheRun) {
  PolicyRun run(2, limits());
  run.on(event::Begin{});
  run.ready(0);
  run.after(2s);
  run.signal(SIGINT);
  EXPECT_EQ(run.policy().interrupted_by(), SIGINT);
}

TEST(RunPolicyLate, IsSilentWhereNoHostHasAnswered) {
  PolicyRun run(2, limits());
  run.on(event::Begin{});
  EXPECT_EQ(run.after(9s), "");
  run.signal(SIGINT);
  EXPECT_EQ(run.policy().interrupted_by(), SIGINT);
}

TEST(RunPolicyLate, AsksNoQuestionsAboutALateHost) {
  Limits asking = limits();
  asking.questions = Questions::can_be_asked;
  PolicyRun run(2, asking);
  run.on(event::Begin{});
  run.ready(0);
  EXPECT_EQ(run.after(3s), "go 0");
  EXPECT_EQ(run.asks(1), "");
  run.ends(0, 0);
  EXPECT_EQ(run.result(), "ok, unreachable: host key: the host key is not known");
}

TEST(RunPolicyLate, WaitsForAnAnswerThatAllHostsNeed) {
  Limits asking = limits();
  asking.questions = Questions::can_be_asked;
  PolicyRun run(3, asking);
  run.on(event::Begin{});
  run.ready(0);
  run.asks(1);
  EXPECT_EQ(run.after(9s), "");
}

TEST(RunPolicyLate, WaitsForHostsThatTheUserWaitsFor) {
  Limits waiting = limits();
  waiting.wait = 60s;
  PolicyRun run(2, waiting);
  run.on(event::Begin{});
  run.ready(0);
  EXPECT_EQ(run.after(9s), "");
  EXPECT_EQ(run.on(event::NotReady{
                1, {link::Stage::connecting, link::Cause::timed_out, "", link::Retry::may_help}}),
            "retry 1 (attempt 2)");
}

TEST(RunPolicyLate, CountsNoTimeWhilePodrunIsSuspended) {
  PolicyRun run(2, limits());
  run.on(event::Begin{});
  run.ready(0);
  run.on(event::Suspended{});
  EXPECT_EQ(run.after(1h), "");
  run.on(event::Resumed{});
  EXPECT_EQ(run.after(2999ms), "");
  EXPECT_EQ(run.after(1ms), "go 0");
}

}  // namespace
}  // namespace podrun::run
