// SPDX-License-Identifier: Apache-2.0
#include "podrun/report/failure_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace podrun::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Lines = std::vector<std::string>;

/// A pod whose labels begin with 10.
std::vector<hosts::Host> pod(std::size_t count) {
  std::vector<hosts::Host> hosts(count);
  for (std::size_t host = 0; host < count; ++host) hosts[host].worker = host + 10;
  return hosts;
}

Lines report(const std::vector<run::HostOutcome>& outcomes, const std::vector<Lines>& last_lines) {
  return report_failures(
      pod(outcomes.size()), outcomes, [&](std::size_t host) { return last_lines[host]; },
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
        pod(3), {link::Exited{1}, link::Exited{1}, link::Exited{1}},
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
  EXPECT_EQ(workers_to_repeat(pod(4), {link::Exited{0}, link::Exited{1}, run::Lost{}, run::Unreachable{}}),
            "11-13");
  EXPECT_EQ(workers_to_repeat(pod(3), {link::Exited{1}, run::Stopped{}, link::Exited{0}}), "10,11")
      << "one that podrun ended";
  EXPECT_EQ(workers_to_repeat(pod(3), {link::Exited{0}, link::Exited{1}, run::NotStarted{}}), "11,12")
      << "a later batch";
}

TEST(WorkersToRepeat, AreNoneWhereTheWholeRunIsToBeRepeated) {
  EXPECT_EQ(workers_to_repeat(pod(2), {link::Exited{1}, link::Exited{1}}), "");
  EXPECT_EQ(workers_to_repeat(pod(2), {link::Exited{0}, link::Exited{0}}), "");
  EXPECT_EQ(workers_to_repeat(pod(2), {run::NotStarted{}, run::Unreachable{}}), "")
      << "nothing was started anywhere";
}

}  // namespace
}  // namespace podrun::report
