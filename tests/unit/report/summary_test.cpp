// SPDX-License-Identifier: Apache-2.0
#include "podrun/report/summary.hpp"

#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/pod.hpp"

namespace podrun::report {
namespace {

using namespace std::chrono_literals;
using run::HostOutcome;
using run::Lost;
using run::NotStarted;
using run::Stopped;
using run::TimedOut;
using run::Unreachable;
using test::pod;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> summary(const std::vector<HostOutcome>& outcomes,
                                 std::optional<std::size_t> culprit = std::nullopt,
                                 std::optional<int> interrupted_by = std::nullopt) {
  return summarize(pod(outcomes.size()), outcomes, culprit, interrupted_by);
}

TEST(Describe, NamesEveryEnd) {
  EXPECT_EQ(describe(link::Exited{0}), "ok");
  EXPECT_EQ(describe(link::Exited{1}), "exit 1");
  EXPECT_EQ(describe(link::Exited{128}), "exit 128");
  EXPECT_EQ(describe(link::Exited{137}), "exit 137 (SIGKILL)") << "as a shell reports a signal";
  EXPECT_EQ(describe(link::Exited{255}), "exit 255");
  EXPECT_EQ(describe(link::Signaled{SIGTERM}), "killed by SIGTERM");
  EXPECT_EQ(describe(link::Signaled{120}), "killed by signal 120");
  EXPECT_EQ(describe(TimedOut{90s}), "timed out after 90 s");
  EXPECT_EQ(describe(TimedOut{2h}), "timed out after 2 h");
  EXPECT_EQ(describe(TimedOut{1500ms}), "timed out after 1500 ms");
  EXPECT_EQ(describe(Lost{{.stage = link::Stage::running,
                           .cause = link::Cause::no_answer,
                           .after = std::chrono::seconds(45)}}),
            "lost: running: no answer for 45 s");
  EXPECT_EQ(describe(Unreachable{{.stage = link::Stage::key_exchange,
                                  .cause = link::Cause::timed_out,
                                  .after = std::chrono::seconds(10)}}),
            "unreachable: key exchange: timed out after 10 s");
  EXPECT_EQ(describe(Unreachable{{link::Stage::none, link::Cause::refused}}),
            "unreachable: connection refused");
  EXPECT_EQ(describe(Unreachable{{link::Stage::connecting, link::Cause::refused}, 3}),
            "unreachable: connecting: connection refused (3 attempts)");
  EXPECT_EQ(describe(Unreachable{{link::Stage::working_directory, link::Cause::no_such_directory, "/x"}}),
            "not ready: working directory: no such directory \"/x\"");
  EXPECT_EQ(describe(Stopped{}), "stopped by podrun");
  EXPECT_EQ(describe(NotStarted{}), "not started");
}

TEST(Describe, ShowsControlBytesOfAHostEscaped) {
  EXPECT_EQ(describe(Lost{{link::Stage::hello, link::Cause::other, "\x1b[31mred\r\nand \xff\a"}}),
            "lost: hello: \\x1b[31mred\\x0d\\x0aand \\xff\\x07");
}

TEST(DescribeFailures, HasALineForEachKind) {
  const link::Failure silent{
      .stage = link::Stage::connection, .cause = link::Cause::no_answer, .after = std::chrono::seconds(45)};
  EXPECT_THAT(
      describe_failures(pod(5), {link::Exited{0}, Lost{silent}, link::Exited{3}, Lost{silent}, NotStarted{}}),
      ElementsAre("podrun: exit 3: [2] tpu-2", "podrun: lost: [1,3] connection: no answer for 45 s"));
}

TEST(Summary, SaysNothingWhenAllIsWell) {
  EXPECT_THAT(summary({link::Exited{0}, link::Exited{0}}), IsEmpty());
}

TEST(Summary, IsAsTheManualShowsIt) {
  std::vector<HostOutcome> outcomes(32, link::Exited{0});
  outcomes[3] = outcomes[17] = link::Exited{1};
  outcomes[31] = Unreachable{{link::Stage::none, link::Cause::refused}};
  std::vector<hosts::Host> hosts = pod(32);
  hosts[31].worker = 41;
  hosts[31].name = "tpu-41";
  EXPECT_THAT(summarize(hosts, outcomes, std::nullopt, std::nullopt),
              ElementsAre("podrun: 29 ok · 2 failed · 1 unreachable", "podrun: exit 1: [3,17]",
                          "podrun: unreachable: [41] tpu-41: connection refused"));
}

TEST(Summary, FoldsWorkersAndSortsByKindAndStatus) {
  const Lost lost{{link::Stage::running, link::Cause::other, "gone"}};
  EXPECT_THAT(
      summary({Stopped{}, link::Exited{7}, lost, TimedOut{60s}, link::Signaled{SIGKILL}, link::Exited{2},
               link::Exited{7}, link::Exited{7}, link::Exited{0}, lost, NotStarted{}}),
      ElementsAre("podrun: 1 ok · 5 failed · 1 timed out · 2 lost · 1 stopped by podrun · 1 not started",
                  "podrun: exit 2: [5] tpu-5", "podrun: exit 7: [1,6,7]",
                  "podrun: killed by SIGKILL: [4] tpu-4", "podrun: timed out after 1 min: [3] tpu-3",
                  "podrun: lost: [2,9] running: gone", "podrun: stopped by podrun: [0]"));
  EXPECT_THAT(summary({link::Exited{1}, link::Exited{1}, link::Exited{1}, link::Exited{1}}),
              ElementsAre("podrun: exit 1: [0-3]"));
}

TEST(Summary, ShowsTheLabelsOfTheList) {
  std::vector<hosts::Host> hosts = pod(3);
  for (hosts::Host& host : hosts) host.worker += 10;
  EXPECT_THAT(
      summarize(hosts, {link::Exited{1}, link::Exited{0}, link::Exited{1}}, std::nullopt, std::nullopt),
      ElementsAre("podrun: 1 ok · 2 failed", "podrun: exit 1: [10,12]"));
}

TEST(Summary, TellsHostsWithDifferentFailuresApart) {
  EXPECT_THAT(summary({link::Exited{0}, Lost{{link::Stage::running, link::Cause::reset, "reset"}},
                       Lost{{link::Stage::running, link::Cause::no_answer}}}),
              ElementsAre("podrun: 1 ok · 2 lost", "podrun: lost: [1] tpu-1: running: reset",
                          "podrun: lost: [2] tpu-2: running: no answer"));
}

TEST(Summary, TakesHostsThatFailedAlikeTogetherHoweverOftenTheyWereTried) {
  const auto refused = [](std::size_t attempts) {
    return Unreachable{{link::Stage::connecting, link::Cause::refused, "", link::Retry::may_help}, attempts};
  };
  EXPECT_EQ(summary({link::Exited{0}, refused(3)}).back(),
            "podrun: unreachable: [1] tpu-1: connecting: connection refused (3 attempts)");
  std::vector<HostOutcome> outcomes(64, refused(3));
  const std::string all = "podrun: unreachable: [0-63] connecting: connection refused";
  EXPECT_EQ(summary(outcomes).front(), all + " (3 attempts)");
  outcomes[7] = refused(1);
  EXPECT_EQ(summary(outcomes).front(), all + " (1 to 3 attempts)");
  outcomes.assign(64, refused(1));
  outcomes[7] = Unreachable{{link::Stage::connecting, link::Cause::refused}};
  EXPECT_EQ(summary(outcomes).front(), all);
}

TEST(Summary, TellsOfAllChangedKeysAtOnce) {
  const auto changed = [](const std::string& keys) {
    return run::Unreachable{{link::Stage::host_key, link::Cause::host_key_changed, keys}, 1};
  };
  const std::vector<std::string> lines = summarize(
      test::pod(4), {changed("A, not B"), changed("C, not D"), run::NotStarted{}, changed("E, not F")},
      std::nullopt, std::nullopt);
  EXPECT_THAT(lines,
              ElementsAre("podrun: 3 unreachable · 1 not started",
                          "podrun: unreachable: [0,1,3] the host keys have changed (if these hosts were "
                          "recreated: podrun hosts --forget-keys; -v shows the keys)",
                          "podrun: nothing was started on any host (--skip-unreachable runs on the others)"));
  const std::vector<std::string> one =
      summarize(test::pod(1), {changed("A, not B")}, std::nullopt, std::nullopt);
  EXPECT_NE(one.front().find("A, not B"), std::string::npos);
  EXPECT_EQ(one[1], "podrun: if [0] was recreated: podrun hosts --forget-keys");
}

TEST(Summary, SharesALineBetweenHostsWhoseHoldersDifferInTheirPids) {
  const auto busy = [](const std::string& detail) {
    return Unreachable{{link::Stage::clean_up, link::Cause::clean_up_failed, detail}, 1};
  };
  EXPECT_THAT(
      summary({busy("pid 8 (python3) holds /dev/accel0"), busy("pid 7 (python3) holds /dev/accel0"),
               busy("pid 7 (\x1b) holds /dev/accel0"),
               busy("pid 6 (python3) holds /dev/accel0 for the job j1")}),
      testing::AllOf(
          testing::Contains("podrun: not ready: [0,1] clean-up: python3 (pid 8 on [0]) holds /dev/accel0"),
          testing::Contains("podrun: not ready: [2] tpu-2: clean-up: pid 7 (\\x1b) holds /dev/accel0"),
          testing::Contains("podrun: not ready: [3] tpu-3: clean-up: pid 6 (python3) holds /dev/accel0 "
                            "for the job j1")));
}

TEST(Summary, SaysWhenNothingWasStarted) {
  const Unreachable refused{{link::Stage::connecting, link::Cause::refused}};
  EXPECT_THAT(summary({NotStarted{}, refused, NotStarted{}}),
              ElementsAre("podrun: 1 unreachable · 2 not started",
                          "podrun: unreachable: [1] tpu-1: connecting: connection refused",
                          "podrun: nothing was started on any host (--skip-unreachable runs on the others)"));
  EXPECT_THAT(summary({refused, refused}),
              ElementsAre("podrun: unreachable: [0,1] connecting: connection refused",
                          "podrun: nothing was started on any host"));
}

TEST(Summary, NamesTheCulpritThatEndedTheOthers) {
  EXPECT_THAT(summary({Stopped{}, link::Exited{1}, Stopped{}}, 1),
              ElementsAre("podrun: 1 failed · 2 stopped by podrun", "podrun: exit 1: [1] tpu-1",
                          "podrun: [1] tpu-1 failed first (exit 1), so podrun stopped [0,2]"));
}

TEST(Summary, SaysThatTheOthersWereNotStarted) {
  EXPECT_EQ(summary({link::Exited{0}, link::Exited{1}, NotStarted{}}, 1).back(),
            "podrun: [1] tpu-1 failed first (exit 1), so the others were not started");
  EXPECT_EQ(summary({Stopped{}, link::Exited{1}, NotStarted{}}, 1).back(),
            "podrun: [1] tpu-1 failed first (exit 1), so podrun stopped [0]");
}

TEST(Summary, NamesAllHostsThatTimedOutAtOnce) {
  EXPECT_THAT(
      summary({TimedOut{5s}, TimedOut{5s}, NotStarted{}}, 0),
      ElementsAre("podrun: 2 timed out · 1 not started", "podrun: timed out after 5 s: [0,1]",
                  "podrun: [0,1] failed first (timed out after 5 s), so the others were not started"));
  EXPECT_THAT(summary({link::Exited{1}, TimedOut{5s}, Stopped{}}, 1).back(),
              "podrun: [1] tpu-1 failed first (timed out after 5 s), so podrun stopped [2]");
}

TEST(Summary, NamesNoCulpritWhereNobodyWasEnded) {
  EXPECT_THAT(summary({link::Exited{0}, link::Exited{1}}, 1),
              ElementsAre("podrun: 1 ok · 1 failed", "podrun: exit 1: [1] tpu-1"));
}

TEST(Summary, SaysWhatInterrupted) {
  EXPECT_THAT(summary({link::Exited{0}, link::Exited{130}}, std::nullopt, SIGINT),
              ElementsAre("podrun: 1 ok · 1 failed", "podrun: exit 130 (SIGINT): [1] tpu-1",
                          "podrun: interrupted (SIGINT)"));
  EXPECT_THAT(summary({Stopped{}, Stopped{}}, std::nullopt, SIGTERM),
              ElementsAre("podrun: 2 stopped by podrun", "podrun: interrupted (SIGTERM)"));
  EXPECT_THAT(summary({NotStarted{}}, std::nullopt, SIGINT),
              ElementsAre("podrun: 1 not started", "podrun: interrupted (SIGINT)",
                          "podrun: nothing was started on any host"));
}

TEST(Summary, SaysNothingWhenTheReaderClosedTheOutput) {
  EXPECT_THAT(summary({Stopped{}, link::Exited{0}}, std::nullopt, SIGPIPE), IsEmpty());
  EXPECT_THAT(summary({Stopped{}, link::Exited{3}}, std::nullopt, SIGPIPE),
              ElementsAre("podrun: 1 failed · 1 stopped by podrun", "podrun: exit 3: [1] tpu-1",
                          "podrun: stopped by podrun: [0]", "podrun: interrupted (SIGPIPE)"));
}

TEST(Summary, ShowsControlBytesOfAHostEscaped) {
  EXPECT_THAT(summary({link::Exited{0}, Lost{{link::Stage::running, link::Cause::other, "\x1b[2Jgone\n"}}}),
              ElementsAre("podrun: 1 ok · 1 lost", "podrun: lost: [1] tpu-1: running: \\x1b[2Jgone\\x0a"));
}

using testing::ElementsAre;
using testing::IsEmpty;

using Lines = std::vector<std::string>;

/// A pod whose labels begin with 10.
std::vector<hosts::Host> pod_from_10(std::size_t count) {
  std::vector<hosts::Host> hosts(count);
  for (std::size_t host = 0; host < count; ++host) hosts[host].worker = host + 10;
  return hosts;
}

Lines report(const std::vector<run::HostOutcome>& outcomes, const std::vector<Lines>& last_lines) {
  return report_failures(
      pod_from_10(outcomes.size()), outcomes, [&](std::size_t host) { return last_lines[host]; },
      [](std::size_t) { return false; });
}

TEST(FailureReport, ShowsTheLastLinesOfEachKind) {
  EXPECT_THAT(report({link::Exited{1}, link::Exited{0}, link::Exited{1}, link::Exited{2}},
                     {{"Traceback", "  KeyError"}, {"fine"}, {"Traceback", "  KeyError"}, {"usage"}}),
              ElementsAre("podrun: last lines of [10,12] (exit 1):", "    Traceback", "      KeyError",
                          "podrun: last lines of [13] (exit 2):", "    usage"));
}

TEST(FailureReport, TellsHostsOfOneOutcomeApart) {
  EXPECT_THAT(report({link::Exited{1}, link::Exited{1}, link::Exited{1}, link::Exited{1}, link::Exited{1}},
                     {{"a"}, {"b"}, {"c"}, {"d"}, {"e"}}),
              ElementsAre("podrun: last lines of [10] (exit 1):", "    a",
                          "podrun: last lines of [11] (exit 1):", "    b",
                          "podrun: last lines of [12] (exit 1):", "    c",
                          "podrun: and other last lines of [13,14]"));
}

TEST(FailureReport, IsSilentWithoutLinesAndForHostsThatNeverRan) {
  EXPECT_THAT(report({link::Exited{1}, run::Unreachable{{link::Stage::connecting, link::Cause::refused}}},
                     {{}, {"noise of .bashrc"}}),
              IsEmpty());
}

TEST(FailureReport, BeginsAtTheLastTraceback) {
  const std::string traceback = "Traceback (most recent call last):";
  EXPECT_THAT(report({link::Exited{1}}, {{"step 1", traceback, "KeyError", traceback, "OSError"}}),
              ElementsAre("podrun: last lines of [10] (exit 1):", "    " + traceback, "    OSError"));
}

TEST(FailureReport, LeavesOutWhatWasSeenOfAllHosts) {
  std::size_t seen = 0;  // hosts
  const auto report_seen = [&] {
    return report_failures(
        pod_from_10(3), {link::Exited{1}, link::Exited{1}, link::Exited{1}},
        [](std::size_t) { return Lines{"boom"}; }, [&](std::size_t host) { return host < seen; });
  };
  seen = 2;
  EXPECT_THAT(report_seen(), ElementsAre("podrun: last lines of [10-12] (exit 1):", "    boom"));
  seen = 3;
  EXPECT_THAT(report_seen(), IsEmpty());
}

TEST(FailureReport, LetsNothingAct) {
  EXPECT_THAT(report({link::Exited{1}}, {{"\x1b]0;x\a"}}),
              ElementsAre("podrun: last lines of [10] (exit 1):", "    \\x1b]0;x\\x07"));
}

TEST(WorkersToRepeat, AreThoseThatDidNotSucceed) {
  EXPECT_EQ(
      workers_to_repeat(pod_from_10(4), {link::Exited{0}, link::Exited{1}, run::Lost{}, run::Unreachable{}}),
      "11-13");
  EXPECT_EQ(workers_to_repeat(pod_from_10(3), {link::Exited{1}, run::Stopped{}, link::Exited{0}}), "10,11")
      << "one that podrun ended";
  EXPECT_EQ(workers_to_repeat(pod_from_10(3), {link::Exited{0}, link::Exited{1}, run::NotStarted{}}), "11,12")
      << "a later batch";
}

TEST(WorkersToRepeat, AreNoneWhereTheWholeRunIsToBeRepeated) {
  EXPECT_EQ(workers_to_repeat(pod_from_10(2), {link::Exited{1}, link::Exited{1}}), "");
  EXPECT_EQ(workers_to_repeat(pod_from_10(2), {link::Exited{0}, link::Exited{0}}), "");
  EXPECT_EQ(workers_to_repeat(pod_from_10(2), {run::NotStarted{}, run::Unreachable{}}), "")
      << "nothing was started anywhere";
}

}  // namespace
}  // namespace podrun::report
