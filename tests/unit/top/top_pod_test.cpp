// SPDX-License-Identifier: Apache-2.0
// States, runs, and the order of odd hosts over time.
#include "podrun/top/top_pod.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "podrun/top/folding.hpp"

#include "unit/top/pods.hpp"

namespace podrun::top {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(PodState, IsWaitingUntilTheFirstFrame) {
  FakePod pod(2);
  pod.hosts[1].answers = false;
  pod.step();
  EXPECT_EQ(pod.pod.rows()[0].state, Presence::up);
  EXPECT_EQ(pod.pod.rows()[1].state, Presence::waiting);
  EXPECT_THAT(pod.pod.rows()[1].odd, IsEmpty());
}

TEST(PodState, IsStaleAfterThreeIntervals) {
  FakePod pod(2);
  pod.steps(2);
  pod.hosts[1].answers = false;
  pod.steps(3);
  EXPECT_EQ(pod.pod.rows()[1].state, Presence::up);
  pod.step();
  EXPECT_EQ(pod.pod.rows()[1].state, Presence::stale);
  EXPECT_EQ(pod.odd(1), "8 s old");
  EXPECT_EQ(pod.find(1, "stale")->severity, Severity::warning);
  EXPECT_EQ(pod.pod.count(Presence::up), 1U);
  EXPECT_EQ(pod.pod.extremes(Figure::cpu)->worst, 0U);
  pod.hosts[1].answers = true;
  pod.step();
  EXPECT_EQ(pod.pod.rows()[1].state, Presence::up);
  EXPECT_EQ(pod.odd(1), "");
}

TEST(PodState, WhoeverWasSuspendedCallsNobodyStale) {
  FakePod pod(2);
  pod.steps(2);
  pod.pass(3600);
  pod.pod.resume(pod.now);
  pod.judge();
  EXPECT_EQ(pod.pod.count(Presence::up), 2U);
  EXPECT_EQ(pod.pod.odd_hosts(), 0U);
}

TEST(PodState, ALostHostHasNoFigures) {
  FakePod pod(3);
  pod.steps(3);
  pod.hosts[1].cpu = 99;
  pod.lose(1);
  pod.pass(5);
  pod.judge();
  const HostRow& row = pod.pod.rows()[1];
  EXPECT_EQ(row.state, Presence::lost);
  for (const std::optional<double>& figure : row.figures) EXPECT_FALSE(figure);
  EXPECT_THAT(pod.odd(1), HasSubstr("lost 5 s ago: "));
  EXPECT_EQ(row.severity(), Severity::fault);
}

TEST(PodState, SaysThatAHostIsBack) {
  FakePod pod(2);
  pod.steps(3);
  pod.lose(1);
  for (int i = 0; i < 20; ++i) pod.step();
  pod.reconnect(1);
  pod.step();
  EXPECT_EQ(pod.odd(1), "back after 42 s");
  EXPECT_FALSE(at(pod.pod.rows()[1].figures, Figure::net));  // no rate over the gap
  EXPECT_FALSE(at(pod.pod.rows()[1].figures, Figure::cpu));
  pod.step();
  EXPECT_TRUE(at(pod.pod.rows()[1].figures, Figure::net));
  pod.steps(5);
  EXPECT_THAT(pod.pod.rows()[1].odd, IsEmpty());
}

TEST(PodState, AHostThatAnswersAtTheSecondAttemptIsNotBack) {
  FakePod pod(2);
  pod.lose(1);
  pod.step();
  EXPECT_EQ(pod.pod.rows()[1].state, Presence::lost);
  pod.reconnect(1);
  pod.step();
  EXPECT_EQ(pod.odd(1), "");
}

TEST(PodState, SaysThatAHostHasRebooted) {
  FakePod pod(2);
  pod.steps(3);
  pod.lose(1);
  pod.steps(30);
  pod.reconnect(1);
  pod.hosts[1].uptime = 20;
  pod.step();
  EXPECT_THAT(pod.odd(1), HasSubstr("rebooted"));
  EXPECT_THAT(pod.odd(1), testing::Not(HasSubstr("clock")));
}

TEST(PodState, ARebootMakesNoClockWrong) {
  FakePod pod(1);
  pod.steps(3);
  pod.hosts[0].uptime = 20;
  pod.feed(0, "f u20\n");
  pod.judge();
  EXPECT_FALSE(pod.pod.rows()[0].clock_offset);
  EXPECT_EQ(pod.odd(0), "rebooted");
}

TEST(PodRun, IsTheOneOfMostHosts) {
  FakePod pod(10);
  pod.hosts[3].holders.clear();
  pod.steps(12);
  EXPECT_EQ(pod.pod.run(), "job train");
  EXPECT_EQ(pod.pod.hosts_in_run(), 9U);
  EXPECT_EQ(pod.odd(3), "no process of job train (9 others have one)");
  EXPECT_EQ(pod.find(3, "no_process")->severity, Severity::fault);
}

TEST(PodRun, ARunWithoutAJobHasTheDigitsOfItsId) {
  FakePod pod(2, {.holders = {{.mark = "0e5a3b6d9c1f4e7a.3."}}});
  pod.step();
  EXPECT_EQ(pod.pod.run(), "run 0e5a3b6d");
}

TEST(PodRun, IsAsOldAsItsProcesses) {
  FakePod pod(2);
  pod.step();
  pod.lists_holders = false;
  pod.steps(5);
  EXPECT_EQ(pod.pod.run_age(), seconds(100));
  FakePod none(2, {.holders = {}});
  none.step();
  EXPECT_FALSE(none.pod.run_age());
}

TEST(PodRun, IsNotThatOfThisOrAnotherPodrunTop) {
  FakePod pod(2, {.holders = {{.mark = "0123456789abcdef.watch.0."}}});
  pod.step();
  EXPECT_EQ(pod.pod.run(), "");
}

TEST(PodRun, AListThatIsOlderThanTheRunSaysNothing) {
  FakePod pod(10);
  for (FakeHost& host : pod.hosts) host.holders.clear();
  pod.steps(15);
  for (std::size_t host = 0; host < 9; ++host) pod.hosts[host].holders.emplace_back();
  pod.lists_holders = false;
  pod.pass(1);
  for (std::size_t host = 0; host < 9; ++host) pod.feed(host, pod.hosts[host].list_holders());
  pod.steps(12);
  EXPECT_EQ(pod.pod.run(), "job train");
  EXPECT_EQ(pod.odd(9), "");
  pod.pass(1);
  pod.feed(9, pod.hosts[9].list_holders());
  pod.step();
  EXPECT_EQ(pod.odd(9), "no process of job train (9 others have one)");
}

TEST(PodRun, AJobThatHasJustStartedIsNotMissed) {
  FakePod pod(10);
  for (FakeHost& host : pod.hosts) host.holders.clear();
  pod.steps(15);
  for (std::size_t host = 0; host < 9; ++host) pod.hosts[host].holders.emplace_back();
  pod.step();
  EXPECT_EQ(pod.odd(9), "");
}

/// Its processes do not end at the same moment, and podrun does not see it at once.
TEST(PodRun, AJobThatEndsIsNotMissedOnTheFirstHosts) {
  FakePod pod(10);
  pod.steps(20);
  pod.hosts[0].holders.clear();
  pod.steps(3);
  EXPECT_EQ(pod.odd(0), "");
  pod.steps(10);
  EXPECT_EQ(pod.odd(0), "no process of job train (9 others have one)");
}

TEST(PodRun, NeedsFourFifthsOfTheHosts) {
  FakePod pod(10);
  for (std::size_t host = 0; host < 3; ++host) pod.hosts[host].holders.clear();
  pod.steps(20);
  EXPECT_EQ(pod.odd(0), "");
}

TEST(PodRun, OneLookDecidesOnce) {
  FakePod pod(10, {}, true);
  pod.hosts[3].holders.clear();
  pod.step();
  EXPECT_EQ(pod.odd(3), "no process of job train (9 others have one)");
}

TEST(PodOrder, IsBySeverityThenAgeThenNumber) {
  FakePod pod(12);
  pod.hosts[7].ahead = 5;
  pod.steps(2);
  pod.hosts[1].ahead = pod.hosts[0].ahead = 3;
  pod.hosts[9].cpu = 99;
  pod.steps(5);
  pod.hosts[11].root = 100;
  pod.step();
  EXPECT_THAT(odd_in_order(pod.pod), ElementsAre(11, 7, 0, 1, 9));
}

TEST(PodOrder, WhatHasGoneStaysForTenSeconds) {
  FakePod pod(12);
  pod.hosts[3].ahead = 3;
  pod.step();
  pod.hosts[5].ahead = 3;
  pod.step();
  pod.hosts[3].ahead = 0;
  for (int i = 0; i < 5; ++i) {
    pod.step();
    EXPECT_EQ(pod.odd(3), "");
    EXPECT_THAT(odd_in_order(pod.pod), ElementsAre(3, 5));
  }
  pod.step();
  EXPECT_THAT(odd_in_order(pod.pod), ElementsAre(5));
}

TEST(PodOrder, ACauseThatComesBackKeepsItsTime) {
  FakePod pod(12);
  for (int i = 0; i < 10; ++i) {
    pod.hosts[3].ahead = i % 3 ? 3 : 0;
    pod.hosts[2].ahead = i > 2 ? 3 : 0;
    pod.step();
  }
  EXPECT_THAT(odd_in_order(pod.pod), ElementsAre(3, 2));
}

/// The worst chip of a host changes from frame to frame, and with it the text.
TEST(PodOrder, FiguresThatSwingMoveNoRow) {
  FakePod pod(20);
  std::vector<std::size_t> first;
  for (int i = 0; i < 30; ++i) {
    for (std::size_t host : {4UL, 9UL}) {
      for (FakeGpu& gpu : pod.hosts[host].gpus) gpu.watts = "655.00";
      pod.hosts[host].gpus[static_cast<std::size_t>(i) * host % 8].watts = i % 2 ? "300.00" : "200.00";
    }
    if (i % 2) pod.hosts[4].ahead = 3;
    if (i % 5 == 0) pod.hosts[4].ahead = 0;
    pod.step();
    if (i == 6) first = odd_in_order(pod.pod);
    if (i > 6) {
      EXPECT_EQ(odd_in_order(pod.pod), first) << i;
    }
  }
}

TEST(PodOrder, ARowWithSeveralReasonsKeepsItsPlace) {
  FakePod pod(12);
  pod.hosts[8].ahead = 3;  // the oldest warning
  pod.step();
  pod.hosts[2].ahead = 3;
  pod.step();
  pod.hosts[8].pressure = 50;
  pod.step();
  pod.hosts[8].ahead = 0;  // the oldest cause of host 8 goes
  pod.step();
  EXPECT_THAT(odd_in_order(pod.pod), ElementsAre(8, 2));
}

TEST(PodHistory, HasAPlaceForEachInterval) {
  FakePod pod(3);
  for (int i = 0; i < 250; ++i) {
    pod.step();
    pod.judge();
  }
  EXPECT_EQ(pod.pod.history().size(), Pod::kHistory);
  EXPECT_NEAR(pod.pod.history().back()[static_cast<std::size_t>(Figure::cpu)]->median, 22, 0.1);
}

TEST(AcceleratorName, IsShort) {
  const auto name = [](const std::string& gpu) { return accelerator_name({.gpus = 1, .gpu_name = gpu}); };
  EXPECT_EQ(name("NVIDIA H100 80GB HBM3"), "H100");
  EXPECT_EQ(name("NVIDIA A100-SXM4-40GB"), "A100");
  EXPECT_EQ(name("Tesla V100-SXM2-16GB"), "V100");
  EXPECT_EQ(name("NVIDIA GeForce RTX 4090"), "RTX 4090");
  EXPECT_EQ(name("NVIDIA RTX A6000"), "RTX A6000");
  EXPECT_EQ(name(""), "GPU");
  EXPECT_EQ(accelerator_name({.tpus = 4, .pci_tpus = {"0x0062"}}), "TPU v5p");
  EXPECT_EQ(accelerator_name({}), "");
}

}  // namespace
}  // namespace podrun::top
