// SPDX-License-Identifier: Apache-2.0
#include "podrun/top/folding.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "unit/top/pods.hpp"

namespace podrun::top {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

void set_busy(FakeHost& host, const std::string& busy) {
  for (FakeGpu& gpu : host.gpus) gpu.busy = busy;
}

TEST(Folding, EqualHostsAreOneGroup) {
  FakePod pod(6);
  pod.steps(2);
  EXPECT_THAT(fold_alike(pod.pod), ElementsAre(ElementsAre(0, 1, 2, 3, 4, 5)));
}

TEST(Folding, LeavesOutWhatIsOddOrDoesNotAnswer) {
  FakePod pod(6);
  pod.hosts[1].answers = false;
  pod.hosts[2].ahead = 3;
  pod.steps(2);
  pod.lose(4);
  pod.judge();
  EXPECT_THAT(fold_alike(pod.pod), ElementsAre(ElementsAre(0, 3, 5)));
}

TEST(Folding, TheLargestOfTwoGroupsIsFirst) {
  FakePod pod(8);
  for (std::size_t host = 0; host < 3; ++host) set_busy(pod.hosts[host], "30");
  pod.steps(6);
  EXPECT_THAT(fold_alike(pod.pod), ElementsAre(ElementsAre(3, 4, 5, 6, 7), ElementsAre(0, 1, 2)));
}

/// No fixed border divides hosts that are alike.
TEST(Folding, SplitsOnlyWhereThereIsAGap) {
  FakePod pod(4);
  set_busy(pod.hosts[0], "88");
  set_busy(pod.hosts[1], "91");
  set_busy(pod.hosts[2], "95");
  set_busy(pod.hosts[3], "60");
  pod.steps(2);
  EXPECT_THAT(fold_alike(pod.pod), ElementsAre(ElementsAre(0, 1, 2), ElementsAre(3)));
}

TEST(Folding, UnknownIsNotZero) {
  FakePod pod(4);
  set_busy(pod.hosts[0], "0");
  set_busy(pod.hosts[1], "[N/A]");
  set_busy(pod.hosts[2], "0");
  set_busy(pod.hosts[3], "[N/A]");
  pod.steps(2);
  EXPECT_THAT(fold_alike(pod.pod), ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
}

TEST(Folding, KeepsRunsAndAcceleratorsApart) {
  FakePod pod(6);
  pod.hosts[1].holders.front().mark = "aaaabbbbccccdddd.job-0-evaluate.";
  pod.hosts[2].gpu_name = "NVIDIA A100-SXM4-40GB";
  for (std::size_t host : {3UL, 4UL}) {
    pod.hosts[host].nvidia = pod.hosts[host].pci = 4;
    pod.hosts[host].gpus.resize(4);
  }
  pod.steps(2);
  EXPECT_THAT(fold_alike(pod.pod), SizeIs(4));
}

TEST(Folding, DescribesHosts) {
  FakePod pod(3);
  pod.steps(2);
  EXPECT_EQ(describe_alike(pod.pod, {0, 1, 2}), "GPU 98 %, 655 W, HBM 88 %, CPU 22 %, RAM 44 %, / 34 %");
}

TEST(Folding, DescribesTpuHosts) {
  FakePod pod(3, {.gpus = {}, .nvidia = 0, .pci = 0, .tpus = 4});
  pod.steps(2);
  EXPECT_EQ(describe_alike(pod.pod, {0, 1, 2}), "CPU 22 %, RAM 44 %, / 34 %");
  EXPECT_EQ(busy_name(pod.pod), "duty");
  EXPECT_EQ(describe_accelerators(pod.pod), "12 × TPU v5p");
}

TEST(ChipCounts, CountBusyIdleAndUnknown) {
  FakePod pod(4);
  set_busy(pod.hosts[0], "0");
  pod.hosts[1].gpus[2].busy = "[N/A]";
  pod.steps(2);
  pod.lose(3);
  pod.judge();
  const ChipCounts counts = count_chips(pod.pod);
  EXPECT_EQ(counts.all, 32U);
  EXPECT_EQ(counts.idle, 8U);
  EXPECT_EQ(counts.busy, 15U);
  EXPECT_EQ(counts.unknown(), 9U);
  EXPECT_EQ(describe_accelerators(pod.pod), "32 × H100");
}

TEST(ChipCounts, AHostThatNeverAnsweredProbablyHasWhatTheOthersHave) {
  FakePod pod(4);
  pod.hosts[3].answers = false;
  pod.steps(2);
  EXPECT_EQ(count_chips(pod.pod).all, 32U);
  EXPECT_EQ(count_chips(pod.pod).unknown(), 8U);
}

TEST(ChipCounts, OfTpusComeFromTheirHolders) {
  FakePod pod(2, {.gpus = {},
                  .nvidia = 0,
                  .pci = 0,
                  .tpus = 4,
                  .holders = {{.devices = {"/dev/accel0", "/dev/accel1", "/dev/accel3"}}}});
  pod.hosts[1].holders.clear();
  pod.steps(2);
  EXPECT_EQ(count_chips(pod.pod).busy, 3U);
  EXPECT_EQ(count_chips(pod.pod).idle, 5U);
  EXPECT_EQ(count_chips(pod.pod).unknown(), 0U);
}

/// Others may have them.
TEST(ChipCounts, AreUnknownWherePodrunSeesOnlyItsOwnProcesses) {
  FakePod pod(1, {.gpus = {}, .nvidia = 0, .pci = 0, .tpus = 4, .holders = {}});
  pod.lists_holders = false;
  pod.steps(2);
  EXPECT_EQ(count_chips(pod.pod).unknown(), 4U);
  pod.feed(0, "h 100004 begin\nh 100004 uid 1000\nh 100004 end\n");
  pod.step();
  EXPECT_EQ(count_chips(pod.pod).unknown(), 4U);
}

TEST(ChipCounts, AMonitorDoesNotMakeAChipBusy) {
  FakePod pod(1, {.gpus = {},
                  .nvidia = 0,
                  .pci = 0,
                  .tpus = 4,
                  .holders = {{.name = "dcgm-exporter", .devices = {"/dev/accel0"}}}});
  pod.steps(2);
  EXPECT_EQ(count_chips(pod.pod).busy, 0U);
}

}  // namespace
}  // namespace podrun::top
