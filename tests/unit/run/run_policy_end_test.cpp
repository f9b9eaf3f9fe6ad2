// SPDX-License-Identifier: Apache-2.0
// From the start to the end of every command: failures, time, interrupts.
#include <csignal>

#include <gtest/gtest.h>

#include "podrun/run/run_policy.hpp"

#include "unit/run/policy_run.hpp"

namespace podrun::run {
namespace {

using namespace std::chrono_literals;
using test::PolicyRun;

TEST(RunPolicyEnd, LetsTheOthersGoOnAfterAFailure) {
  PolicyRun run(3);
  run.start();
  EXPECT_EQ(run.ends(1, 7), "");
  EXPECT_EQ(run.dies(2, SIGSEGV), "");
  run.closes(2);
  EXPECT_FALSE(run.policy().finished());
  run.ends(0, 0);
  EXPECT_EQ(run.result(), "ok, exit 7, killed by SIGSEGV");
  EXPECT_EQ(run.policy().culprit(), std::nullopt);
}

TEST(RunPolicyEnd, EndsCommandsThatRunTooLong) {
  PolicyRun run(3, {.timeout = 5s});
  run.on(event::Begin{});
  run.after(4s);
  for (std::size_t host = 0; host < 3; ++host) run.ready(host);
  EXPECT_EQ(run.after(5s - 1ms), "") << "the time of a command begins with its start";
  run.ends(1, 0);
  EXPECT_EQ(run.after(1ms), "end 0, end 2");
  run.ends(0, 0);
  run.dies(2, SIGTERM);
  run.closes(2);
  EXPECT_EQ(run.result(), "timed out after 5 s, ok, timed out after 5 s") << "however they exit then";
  EXPECT_EQ(exit_status(run.policy().outcomes(), std::nullopt), 124);
}

TEST(RunPolicyEnd, TakesATimedOutHostThatIsLostAsTimedOut) {
  PolicyRun run(1, {.timeout = 5s});
  run.start();
  run.after(5s);
  run.is_lost(0);
  EXPECT_EQ(run.result(), "timed out after 5 s");
}

TEST(RunPolicyEnd, AbandonsWhatDoesNotEndSomeTimeAfterTheGrace) {
  PolicyRun run(2, {.timeout = 5s, .grace = 3s});
  run.start();
  EXPECT_EQ(run.after(5s), "end 0, end 1");
  run.ends(1, 1);
  EXPECT_EQ(run.after(8s - 1ms), "");
  EXPECT_EQ(run.after(1ms), "abandon 0 (did not stop within 8 s)");
  EXPECT_EQ(run.result(), "timed out after 5 s, timed out after 5 s");
  EXPECT_EQ(run.is_lost(0), "");
  EXPECT_EQ(run.result(), "timed out after 5 s, timed out after 5 s");
}

TEST(RunPolicyEnd, CountsAHostThatCouldNotBeEndedAsLost) {
  PolicyRun run(1);
  run.start();
  run.signal(SIGTERM);
  EXPECT_EQ(run.after(15s), "abandon 0 (did not stop within 15 s)");
  EXPECT_EQ(run.result(), "lost: stopping: did not stop within 15 s");
}

TEST(RunPolicyEnd, EndsTheOthersAtTheFirstFailureWhenAskedTo) {
  PolicyRun run(4, {.on_failure = OnFailure::stop_others});
  run.start();
  EXPECT_EQ(run.ends(0, 0), "") << "no failure";
  EXPECT_EQ(run.exits(2, 3), "end 1, end 3");
  EXPECT_EQ(run.exits(1, 143), "");
  EXPECT_EQ(run.dies(3, SIGKILL), "");
  for (std::size_t host = 1; host < 4; ++host) run.closes(host);
  EXPECT_EQ(run.result(), "ok, stopped by podrun, exit 3, stopped by podrun");
  EXPECT_EQ(run.policy().culprit(), 2U);
  EXPECT_EQ(exit_status(run.policy().outcomes(), std::nullopt), 3) << "the ended do not count";
}

TEST(RunPolicyEnd, FailsFastForEveryKindOfFailure) {
  const Limits limits{.timeout = 20s, .on_failure = OnFailure::stop_others};
  PolicyRun killed(2, limits);
  killed.start();
  EXPECT_EQ(killed.dies(0, SIGKILL), "end 1");
  PolicyRun lost(2, limits);
  lost.start();
  lost.on(event::Spoke{0});
  lost.after(15s);
  EXPECT_EQ(lost.is_lost(0), "end 1");
  EXPECT_EQ(lost.policy().culprit(), 0U);
  PolicyRun timed_out(3, limits);
  timed_out.start();
  EXPECT_EQ(timed_out.after(20s), "end 0, end 1, end 2") << "each once";
  EXPECT_EQ(timed_out.policy().culprit(), 0U);
}

TEST(RunPolicyEnd, SaysOfAllHostsWhoseTimeIsOverAtOnceThatTheyTimedOut) {
  PolicyRun run(4, {.timeout = 20s, .on_failure = OnFailure::stop_others});
  run.start();
  run.ends(1, 0);
  run.exits(3, 0);  // and its output stays open
  run.lingers(3);
  run.after(20s);
  for (const std::size_t host : {0U, 2U, 3U}) run.closes(host);
  EXPECT_EQ(run.result(), "timed out after 20 s, ok, timed out after 20 s, timed out after 20 s");
}

TEST(RunPolicyEnd, StartsNoFurtherBatchWhenFailingFast) {
  PolicyRun run(3, {.serial = 2, .on_failure = OnFailure::stop_others});
  run.on(event::Begin{});
  run.ready(0);
  run.ready(1);
  EXPECT_EQ(run.ends(0, 1), "end 1");
  run.ends(1, 0);
  EXPECT_EQ(run.result(), "exit 1, stopped by podrun, not started");
}

TEST(RunPolicyEnd, TakesASkippedHostForNoCulprit) {
  PolicyRun run(2, {.on_unreachable = OnUnreachable::skip, .on_failure = OnFailure::stop_others});
  run.on(event::Begin{});
  run.not_ready(0);
  EXPECT_EQ(run.ready(1), "go 1");
  EXPECT_EQ(run.policy().culprit(), std::nullopt);
}

TEST(RunPolicyEnd, LetsGoOfAnOutputThatStaysOpenAfterTheExit) {
  PolicyRun run(2);
  run.start();
  run.exits(0, 4);
  run.exits(1, 0);
  EXPECT_EQ(run.after(1s), "");
  EXPECT_EQ(run.closes(1), "") << "this one has closed in time";
  EXPECT_EQ(run.after(1s), "let go 0");
  EXPECT_EQ(run.after(1h), "") << "once";
  run.closes(0);
  EXPECT_EQ(run.result(), "exit 4, ok");
}

TEST(RunPolicyEnd, TakesNoHostForLostWhoseCommandHasEnded) {
  PolicyRun run(2);
  run.start();
  run.signal(SIGTERM);
  run.dies(0, SIGTERM);
  EXPECT_EQ(run.after(15s), "end 0, abandon 1 (did not stop within 15 s)");
  EXPECT_EQ(run.after(2s), "abandon 0 (let go)");
  EXPECT_EQ(run.outcomes(), "stopped by podrun, lost: stopping: did not stop within 15 s");
}

TEST(RunPolicyEnd, LooksAgainAtAnOutputThatStillComesIn) {
  PolicyRun run(1);
  run.start();
  run.exits(0, 0);
  EXPECT_EQ(run.after(2s), "let go 0");
  EXPECT_EQ(run.goes_on(0), "");
  EXPECT_EQ(run.after(2s - 1ms), "");
  EXPECT_EQ(run.after(1ms), "let go 0");
  run.closes(0);
  EXPECT_EQ(run.goes_on(0), "") << "they have crossed";
  EXPECT_EQ(run.result(), "ok");
}

TEST(RunPolicyEnd, GoesOnWhileWhatACommandLeftHasItsOutputOpen) {
  PolicyRun run(2, {.serial = 1});
  run.on(event::Begin{});
  run.ready(0);
  run.exits(0, 0);
  EXPECT_EQ(run.after(2s), "let go 0");
  EXPECT_EQ(run.lingers(0), "");
  EXPECT_EQ(run.policy().state(0), RunPolicy::State::lingering);
  EXPECT_EQ(run.after(60s - 1ms), "");
  EXPECT_EQ(run.after(1ms), "let go 0") << "it may be something else by now";
  run.lingers(0);
  EXPECT_EQ(run.closes(0), "connect 1") << "the next batch";
  run.ready(1);
  run.ends(1, 0);
  EXPECT_EQ(run.result(), "ok, ok");
}

TEST(RunPolicyEnd, EndsAgainWhatACommandLeftThatEndedByItselfMeanwhile) {
  PolicyRun run(2, {.grace = 1s, .on_failure = OnFailure::stop_others});
  run.start();
  run.exits(0, 3);  // ends the other, which has just ended by itself
  run.exits(1, 0);
  EXPECT_EQ(run.policy().state(1), RunPolicy::State::stopping);
  EXPECT_EQ(run.after(2s), "let go 0, end 1") << "its supervisor was no more when it was told";
}

TEST(RunPolicyEnd, TakesAHostForLostWhoseJobLingered) {
  PolicyRun run(1);
  run.start();
  run.exits(0, 0);
  run.after(2s);
  run.lingers(0);
  run.on(event::LostHost{0, {link::Stage::connection, link::Cause::closed}});
  EXPECT_EQ(run.result(), "lost: connection: closed by the server");
}

TEST(RunPolicyEnd, LooksAgainSoonWhenWhatLingeredIsGone) {
  PolicyRun run(1);
  run.start();
  run.exits(0, 0);
  run.after(2s);
  run.lingers(0);
  EXPECT_EQ(run.after(60s), "let go 0");
  run.goes_on(0);
  EXPECT_EQ(run.after(2s), "let go 0");
}

TEST(RunPolicyEnd, BelievesNoExitStatusThatIsToldTwice) {
  for (const bool lingers : {false, true}) {
    PolicyRun run(2);
    run.start();
    run.exits(0, 0);
    if (lingers) run.lingers(0);
    run.on(event::LostHost{0, {link::Stage::running, link::Cause::second_exit_status}});
    EXPECT_TRUE(std::holds_alternative<Lost>(run.policy().outcomes()[0])) << lingers;
  }
}

TEST(RunPolicyEnd, InterruptsThenEndsThenLeavesWhatLingers) {
  PolicyRun run(2);
  run.start();
  run.exits(0, 3);
  run.after(2s);
  run.lingers(0);
  EXPECT_EQ(run.signal(SIGINT), "int 0, int 1");
  EXPECT_EQ(run.ends(1, 130), "");
  EXPECT_EQ(run.signal(SIGINT), "end 0");
  EXPECT_EQ(run.signal(SIGINT), "leave");
  EXPECT_EQ(run.outcomes(), "exit 3, exit 130 (SIGINT)");
  EXPECT_EQ(exit_status(run.policy().outcomes(), run.policy().interrupted_by()), 130);
}

TEST(RunPolicyEnd, SignalsWhatIsFoundToLingerAfterASignal) {
  PolicyRun interrupted(1);
  interrupted.start();
  interrupted.exits(0, 0);
  EXPECT_EQ(interrupted.signal(SIGINT), "let go 0");
  EXPECT_EQ(interrupted.lingers(0), "int 0");
  EXPECT_EQ(interrupted.after(60s), "let go 0");
  EXPECT_EQ(interrupted.lingers(0), "") << "once";
  PolicyRun terminated(1);
  terminated.start();
  terminated.exits(0, 0);
  EXPECT_EQ(terminated.signal(SIGTERM), "let go 0 at once");
  EXPECT_EQ(terminated.lingers(0), "end 0");
  EXPECT_EQ(terminated.after(15s), "abandon 0 (let go)") << "it cannot be ended";
  EXPECT_EQ(terminated.result(), "ok");
}

TEST(RunPolicyEnd, TimesOutWhatLingers) {
  PolicyRun run(2, {.timeout = 10s});
  run.start();
  run.after(3s);
  run.exits(0, 0);
  run.exits(1, 3);
  run.after(2s);
  run.lingers(0);
  run.lingers(1);
  EXPECT_EQ(run.after(5s - 1ms), "");
  EXPECT_EQ(run.after(1ms), "end 0, end 1");
  EXPECT_EQ(run.outcomes(), "timed out after 10 s, exit 3") << "a failure of the command itself counts";
}

TEST(RunPolicyEnd, EndsWhatLingersWhenFailingFast) {
  PolicyRun run(2, {.on_failure = OnFailure::stop_others});
  run.start();
  run.exits(0, 0);
  run.after(2s);
  run.lingers(0);
  EXPECT_EQ(run.exits(1, 1), "end 0");
  EXPECT_EQ(run.after(2s), "let go 1");
  EXPECT_EQ(run.lingers(1), "end 1") << "what the culprit left too";
  EXPECT_EQ(run.outcomes(), "ok, exit 1");
}

TEST(RunPolicyEnd, InterruptsWhatLingersByAQuitOnlyWhereNothingRuns) {
  PolicyRun run(2);
  run.start();
  run.exits(0, 0);
  run.after(2s);
  run.lingers(0);
  EXPECT_EQ(run.signal(SIGQUIT), "quit 1");
  run.ends(1, 0);
  EXPECT_EQ(run.signal(SIGQUIT), "int 0");
}

TEST(RunPolicyEnd, NeverTimesOutACommandThatHasEnded) {
  PolicyRun run(1, {.timeout = 5s});
  run.start();
  run.after(4s);
  run.exits(0, 0);
  EXPECT_EQ(run.after(1h), "let go 0");
  run.closes(0);
  EXPECT_EQ(run.result(), "ok");
}

TEST(RunPolicyEnd, LetsGoOfTheOpenOutputsOfOthersWhenFailingFast) {
  PolicyRun run(2, {.on_failure = OnFailure::stop_others});
  run.start();
  run.exits(0, 0);
  EXPECT_TRUE(run.exits(1, 1).starts_with("let go 0"));
  run.closes(0);
  run.closes(1);
  EXPECT_EQ(run.result(), "ok, exit 1");
}

TEST(RunPolicyEnd, LeavesTheCulpritTheTimeToCompleteItsOutput) {
  PolicyRun run(2, {.on_failure = OnFailure::stop_others});
  run.start();
  EXPECT_EQ(run.exits(1, 1), "end 0") << "its last lines are on their way";
  EXPECT_EQ(run.after(2s), "let go 1");
}

TEST(RunPolicyEnd, KeepsTheExitOfAHostThatIsLostAfterIt) {
  PolicyRun run(1);
  run.start();
  run.exits(0, 0);
  run.is_lost(0);
  EXPECT_EQ(run.result(), "ok");
}

TEST(RunPolicyEnd, StopsTheOthersWhenAHostIsLostAtTheVeryStart) {
  PolicyRun run(3, {.connect_timeout = 10s});
  run.start();
  run.ends(1, 0);
  EXPECT_EQ(run.after(10s - 1ms), "");
  EXPECT_EQ(run.is_lost(0), "end 2");
  run.ends(2, 143);
  EXPECT_EQ(run.result(), "lost: running: gone, ok, stopped by podrun");
  EXPECT_EQ(run.policy().culprit(), 0U);
}

TEST(RunPolicyEnd, LetsCommandsGoOnThatDoNotWaitForEachOther) {
  PolicyRun run(2, {.connect_timeout = 10s, .may_wait_for_each_other = false});
  run.start();
  EXPECT_EQ(run.is_lost(0), "");
  run.ends(1, 0);
  EXPECT_EQ(run.result(), "lost: running: gone, ok");
}

TEST(RunPolicyEnd, LetsTheOthersRunWhenAHostThatHadStartedIsLost) {
  PolicyRun spoke(2);
  spoke.start();
  spoke.on(event::Spoke{0});
  EXPECT_EQ(spoke.is_lost(0), "");
  PolicyRun silent(2);
  silent.start();
  silent.after(10s);
  EXPECT_EQ(silent.is_lost(0), "");
  silent.ends(1, 0);
  EXPECT_EQ(silent.result(), "lost: running: gone, ok");
  EXPECT_EQ(exit_status(silent.policy().outcomes(), std::nullopt), 255);
}

TEST(RunPolicyEnd, InterruptsThenEndsThenLeaves) {
  PolicyRun run(3);
  run.start();
  run.ends(2, 0);
  EXPECT_EQ(run.signal(SIGINT), "int 0, int 1");
  run.ends(0, 130);
  EXPECT_EQ(run.signal(SIGINT), "end 1");
  EXPECT_EQ(run.signal(SIGINT), "leave");
  EXPECT_EQ(run.outcomes(), "exit 130 (SIGINT), stopped by podrun, ok");
  EXPECT_EQ(run.policy().interrupted_by(), SIGINT);
}

TEST(RunPolicyEnd, EndsAtOnceByAnyOtherSignal) {
  for (const int signal : {SIGTERM, SIGHUP, SIGPIPE}) {
    PolicyRun run(2);
    run.start();
    EXPECT_EQ(run.signal(signal), "end 0, end 1");
    run.ends(0, 0);
    run.ends(1, 143);
    EXPECT_EQ(run.result(), "stopped by podrun, stopped by podrun");
    EXPECT_EQ(exit_status(run.policy().outcomes(), run.policy().interrupted_by()), 128 + signal);
  }
}

TEST(RunPolicyEnd, LeavesAtAnInterruptAfterATermWhichActsAsTheSecond) {
  PolicyRun run(1);
  run.start();
  EXPECT_EQ(run.signal(SIGTERM), "end 0");
  EXPECT_EQ(run.signal(SIGINT), "leave");
}

TEST(RunPolicyEnd, NamesTheFirstOfSeveralSignals) {
  PolicyRun run(1);
  run.start();
  EXPECT_EQ(run.signal(SIGINT), "int 0");
  EXPECT_EQ(run.signal(SIGTERM), "end 0");
  EXPECT_EQ(run.signal(SIGHUP), "") << "it is being ended";
  EXPECT_EQ(run.policy().interrupted_by(), SIGINT);
}

TEST(RunPolicyEnd, LeavesAtTheSecondPressWhenAllAreBeingEnded) {
  PolicyRun run(1, {.timeout = 5s});
  run.start();
  EXPECT_EQ(run.after(5s), "end 0");
  EXPECT_EQ(run.signal(SIGINT), "");
  EXPECT_EQ(run.signal(SIGINT), "leave");
}

TEST(RunPolicyEnd, InterruptsNoHostThatIsBeingStopped) {
  PolicyRun run(2, {.on_failure = OnFailure::stop_others});
  run.start();
  EXPECT_EQ(run.ends(0, 1), "end 1");
  EXPECT_EQ(run.signal(SIGINT), "");
  EXPECT_EQ(run.after(15s), "abandon 1 (did not stop within 15 s)")
      << "the time for its end does not start again";
}

TEST(RunPolicyEnd, LetsGoOfAnOpenOutputWhenInterrupted) {
  PolicyRun run(1);
  run.start();
  run.exits(0, 0);
  EXPECT_EQ(run.signal(SIGINT), "let go 0");
  run.goes_on(0);
  EXPECT_EQ(run.signal(SIGINT), "let go 0 at once");
}

TEST(RunPolicyEnd, DoesNotLetGoOfAnOutputThatWaitsForItsReader) {
  PolicyRun run(2);
  run.start();
  run.on(event::ReadingPaused{0});
  run.exits(0, 0);
  EXPECT_EQ(run.signal(SIGINT), "int 1");
  EXPECT_EQ(run.signal(SIGINT), "end 1");
  run.on(event::ReadingResumed{0});
  EXPECT_EQ(run.after(2s), "let go 0 at once");
}

TEST(RunPolicyEnd, PassesAQuitOnAndGoesOn) {
  PolicyRun run(3, {.on_failure = OnFailure::stop_others});
  run.start();
  run.ends(2, 0);
  EXPECT_EQ(run.signal(SIGQUIT), "quit 0, quit 1");
  EXPECT_EQ(run.signal(SIGQUIT), "quit 0, quit 1") << "as often as it is pressed";
  EXPECT_EQ(run.policy().interrupted_by(), std::nullopt);
  EXPECT_EQ(run.signal(SIGINT), "int 0, int 1") << "still the first of its kind";
  run.ends(0, 0);
  run.dies(1, SIGQUIT);
  run.closes(1);
  EXPECT_EQ(run.result(), "ok, killed by SIGQUIT, ok");
}

TEST(RunPolicyEnd, HasTheStatusOfACommandThatDiesOfAQuit) {
  PolicyRun run(2);
  run.start();
  run.signal(SIGQUIT);
  run.ends(0, 128 + SIGQUIT);
  run.ends(1, 0);
  EXPECT_EQ(exit_status(run.policy().outcomes(), run.policy().interrupted_by()), 131);
}

TEST(RunPolicyEnd, CancelsByAQuitWhatHasNotStarted) {
  PolicyRun run(2);
  run.on(event::Begin{});
  run.ready(0);
  EXPECT_EQ(run.signal(SIGQUIT), "abandon 0 (cancelled), abandon 1 (cancelled)");
  EXPECT_EQ(run.result(), "not started, not started");
  EXPECT_EQ(run.policy().interrupted_by(), SIGQUIT);
}

TEST(RunPolicyEnd, DoesNotLetAQuitDisturbTheEnd) {
  PolicyRun run(1);
  run.start();
  EXPECT_EQ(run.signal(SIGTERM), "end 0");
  EXPECT_EQ(run.signal(SIGQUIT), "");
  EXPECT_EQ(run.after(15s), "abandon 0 (did not stop within 15 s)");
}

TEST(RunPolicyEnd, TakesACancelledHostThatMayHaveStartedForEnded) {
  PolicyRun run(1);
  run.on(event::Begin{});
  EXPECT_EQ(run.signal(SIGINT), "abandon 0 (cancelled)");
  EXPECT_EQ(run.result(), "not started");
  run.is_lost(0);
  EXPECT_EQ(run.result(), "stopped by podrun");
}

TEST(RunPolicyEnd, DoesNotFailFastAfterAnInterrupt) {
  PolicyRun run(2, {.on_failure = OnFailure::stop_others});
  run.start();
  run.signal(SIGINT);
  EXPECT_EQ(run.ends(0, 130), "") << "the other one may still be tidying up";
  EXPECT_EQ(run.policy().culprit(), std::nullopt);
}

TEST(RunPolicyEnd, StillTimesOutWhatIgnoresAnInterrupt) {
  PolicyRun run(1, {.timeout = 5s});
  run.start();
  run.signal(SIGINT);
  EXPECT_EQ(run.after(5s), "end 0");
}

}  // namespace
}  // namespace podrun::run
