// SPDX-License-Identifier: Apache-2.0
// What is wrong with a host by itself, or against what most hosts have.
#include "podrun/top/oddness.hpp"

#include <string>

#include <gmock/gmock.h>

#include "unit/top/pods.hpp"

namespace podrun::top {
namespace {

using testing::HasSubstr;

TEST(Oddness, AHealthyPodHasNone) {
  FakePod pod(8);
  pod.steps(10);
  for (std::size_t host = 0; host < 8; ++host) EXPECT_EQ(pod.odd(host), "");
  EXPECT_EQ(pod.pod.odd_hosts(), 0U);
}

TEST(Oddness, AGpuThatTheDriverHasLost) {
  FakePod pod(3);
  pod.hosts[1].nvidia = 7;
  pod.hosts[1].gpus.pop_back();
  pod.steps(2);
  EXPECT_EQ(pod.odd(1), "7 of 8 GPUs");
  EXPECT_EQ(pod.find(1, "accelerator_missing")->severity, Severity::fault);
  EXPECT_EQ(pod.odd(0), "");
}

TEST(Oddness, AGpuThatNvidiaSmiDoesNotShow) {
  FakePod pod(1);
  pod.hosts[0].gpus.erase(pod.hosts[0].gpus.begin() + 2);
  pod.steps(3);
  EXPECT_EQ(pod.odd(0), "7 of 8 GPUs");
}

/// Their PCI bus shows all GPUs of the machine.
TEST(Oddness, ContainersWithAPartOfTheGpusMissNone) {
  FakePod pod(4, {.gpus = std::vector<FakeGpu>(2), .nvidia = 2, .pci = 8});
  pod.steps(2);
  EXPECT_EQ(pod.odd(0), "");
}

TEST(Oddness, AHostOfAnotherKindMissesNothing) {
  FakePod pod(9, {.gpus = {}, .nvidia = 0, .pci = 0, .tpus = 4});
  pod.hosts[8].tpus = 0;
  pod.steps(2);
  EXPECT_EQ(pod.odd(8), "");
}

TEST(Oddness, FewerAcceleratorsThanTheOthers) {
  FakePod pod(12, {.gpus = {}, .nvidia = 0, .pci = 0, .tpus = 4});
  pod.hosts[2].tpus = 3;
  pod.hosts[3].tpus = 0;
  pod.hosts[3].pci_tpus = 4;
  pod.steps(2);
  EXPECT_EQ(pod.odd(2), "3 chips, the others have 4");
  EXPECT_EQ(pod.odd(3), "no accelerator, the others have 4");
}

TEST(Oddness, EccErrorsThatRise) {
  FakePod pod(2);
  pod.hosts[0].gpus[5].ecc = "7";  // known before
  pod.steps(2);
  EXPECT_EQ(pod.odd(0), "");
  pod.hosts[0].gpus[5].ecc = "9";
  pod.step();
  EXPECT_EQ(pod.odd(0), "GPU 5: 2 more ECC errors");
  EXPECT_EQ(pod.find(0, "ecc")->device, 5U);
  EXPECT_EQ(pod.find(0, "ecc")->severity, Severity::fault);
}

TEST(Oddness, EccErrorsAfterTheDriverHasStartedAgain) {
  FakePod pod(1);
  pod.hosts[0].gpus[5].ecc = "7";
  pod.step();
  pod.hosts[0].gpus[5].ecc = "0";
  pod.step();
  pod.hosts[0].gpus[5].ecc = "1";
  pod.step();
  EXPECT_EQ(pod.odd(0), "GPU 5: 1 more ECC error");
}

TEST(Oddness, AFullDisk) {
  FakePod pod(1);
  pod.hosts[0].root = 98.9;
  pod.step();
  EXPECT_EQ(pod.odd(0), "");
  pod.hosts[0].root = 99.2;
  pod.step();
  EXPECT_EQ(pod.odd(0), "/ is 99 % full, 16 GB free");
}

TEST(Oddness, ADiskThatIsReadOnly) {
  FakePod pod(5);
  pod.step();
  pod.hosts[2].root_mode = "ro";
  pod.step();
  EXPECT_EQ(pod.odd(2), "/ is read-only");
}

TEST(Oddness, ADiskThatIsReadOnlyOnlyHere) {
  FakePod pod(5);
  pod.hosts[2].root_mode = "ro";
  pod.step();
  EXPECT_EQ(pod.odd(2), "/ is read-only");
}

TEST(Oddness, ADiskThatIsReadOnlyOnAllHostsIsMeantToBe) {
  FakePod pod(5, {.root_mode = "ro"});
  pod.steps(3);
  EXPECT_EQ(pod.odd(2), "");
}

TEST(Oddness, ADiskThatDoesNotAnswer) {
  FakePod pod(1);
  pod.hosts[0].extra = "m 1 lustre /data\n";
  pod.step();
  Mount& mount = pod.pod.report(0).mounts[1];
  mount.is_asked = mount.is_silent = true;
  mount.asked_at = pod.hosts[0].uptime - 10;
  pod.step();
  EXPECT_EQ(pod.odd(0), "/data: no answer for 12 s");
}

TEST(Oddness, AKillByTheKernel) {
  FakePod pod(1);
  pod.hosts[0].oom_kills = 3;
  pod.steps(2);
  EXPECT_EQ(pod.odd(0), "");
  pod.hosts[0].oom_kills = 4;
  pod.step();
  EXPECT_EQ(pod.odd(0), "the kernel killed a process (OOM)");
  pod.steps(20);
  EXPECT_NE(pod.odd(0), "");
  pod.steps(11);
  EXPECT_EQ(pod.odd(0), "");
}

TEST(Oddness, NvidiaSmiThatComplains) {
  FakePod pod(1);
  pod.hosts[0].gpus.clear();
  pod.hosts[0].extra = "g 100000 NVML: Driver/library version mismatch\n";
  pod.step();
  EXPECT_EQ(pod.odd(0), "nvidia-smi: NVML: Driver/library version mismatch");
}

TEST(Oddness, AGpuThatIsLost) {
  FakePod pod(2);
  for (const std::size_t index : {0U, 2U}) pod.hosts[1].gpus[index].is_lost = true;
  pod.step();
  EXPECT_EQ(pod.odd(0), "");
  EXPECT_EQ(pod.odd(1), "nvidia-smi: GPU 0,2: [GPU is lost]");
  EXPECT_EQ(pod.find(1, "nvidia_smi")->severity, Severity::fault);
}

TEST(Oddness, NvidiaSmiThatHangs) {
  FakePod pod(1);
  pod.step();
  pod.hosts[0].gpus.clear();
  pod.steps(10);
  EXPECT_EQ(pod.odd(0), "");
  pod.step();
  EXPECT_EQ(pod.odd(0), "nvidia-smi: no answer for 22 s");
}

TEST(Oddness, NvidiaSmiThatNeverAnswers) {
  FakePod pod(1);
  pod.hosts[0].gpus.clear();
  pod.steps(20);
  EXPECT_EQ(pod.odd(0), "");  // podrun does not ask it
  pod.pod.report(0).gpus_asked_at = pod.hosts[0].uptime;
  pod.steps(15);
  EXPECT_EQ(pod.odd(0), "");
  pod.step();
  EXPECT_EQ(pod.odd(0), "nvidia-smi: no answer for 32 s");
}

TEST(Oddness, ANewConnectionHasANewNvidiaSmi) {
  FakePod pod(1);
  pod.steps(3);
  pod.lose(0);
  pod.steps(20);
  pod.hosts[0].gpus.clear();
  pod.reconnect(0);
  pod.step();
  EXPECT_EQ(pod.odd(0), "back after 42 s");
}

TEST(Oddness, AChipThatIsSlowed) {
  struct Case {
    unsigned bits;
    std::string text;
  };
  for (const Case& each :
       {Case{0, ""}, Case{1, ""}, Case{4, ""}, Case{2, ""}, Case{0x8, "GPU 3 slowed by the hardware"},
        Case{0x20, "GPU 3 hot"}, Case{0x44, "GPU 3 hot"}, Case{0x48, "GPU 3 hot"},
        Case{0x80, "GPU 3 power brake"}}) {
    FakePod pod(1);
    pod.hosts[0].gpus[3] = {.celsius = 88, .mhz = 1110, .slowed_by = each.bits};
    pod.step();
    EXPECT_EQ(pod.odd(0), each.text.empty() ? "" : each.text + ": 88 °C, 1110 MHz") << each.bits;
  }
}

TEST(Oddness, AHostThatSwaps) {
  FakePod pod(1, {.swap = 1});
  pod.steps(2);
  EXPECT_EQ(pod.odd(0), "");  // what lies there does no harm
  pod.hosts[0].swap = 1.5;
  pod.step();
  EXPECT_EQ(pod.odd(0), "swaps");
  EXPECT_EQ(pod.find(0, "swap")->severity, Severity::warning);
  pod.steps(5);
  EXPECT_EQ(pod.odd(0), "");
}

TEST(Oddness, MemoryPressure) {
  FakePod pod(1);
  pod.hosts[0].pressure = 10;
  pod.step();
  EXPECT_EQ(pod.odd(0), "");
  pod.hosts[0].pressure = 34;
  pod.step();
  EXPECT_EQ(pod.odd(0), "memory pressure 34 %");
}

TEST(Oddness, AClockThatIsOff) {
  FakePod pod(3);
  pod.hosts[0].ahead = 2.4;
  pod.hosts[1].ahead = -1.1;
  pod.hosts[2].ahead = 0.9;
  pod.step();
  EXPECT_EQ(pod.odd(0), "clock 2.4 s ahead");
  EXPECT_EQ(pod.odd(1), "clock 1.1 s behind");
  EXPECT_EQ(pod.odd(2), "");
  pod.hosts[1].ahead = -800000000.0;
  pod.step();
  EXPECT_EQ(pod.odd(1), "clock 25 years behind");
}

/// podrun top --once shows the rates of earlier frames than the last one.
TEST(Oddness, TheClockIsThatOfTheLastFrame) {
  FakePod pod(1, {}, true);
  pod.step();
  const std::optional<Counters> shown = pod.pod.report(0).now;
  pod.pass(4);
  pod.answer(0);
  pod.pod.report(0).now = shown;
  pod.pod.add_frame(0, pod.now, pod.wall);
  pod.judge();
  EXPECT_EQ(pod.odd(0), "");
}

TEST(Oddness, ALinkThatIsDownOrSlower) {
  FakePod pod(6);
  pod.hosts[1].links = "Lmlx5_0,DOWN,400 Neth0,up,25000";
  pod.hosts[2].links = "Lmlx5_0,ACTIVE,200 Neth0,up,25000";
  pod.step();
  EXPECT_EQ(pod.odd(1), "link mlx5_0 is DOWN");
  EXPECT_EQ(pod.odd(2), "link mlx5_0 has speed 200, the others 400");
  EXPECT_EQ(pod.odd(0), "");
}

TEST(Oddness, ALinkThatIsDownEverywhereIsNotUsed) {
  FakePod pod(6, {.links = "Lmlx5_0,DOWN,10 Neth0,up,25000"});
  pod.step();
  EXPECT_EQ(pod.pod.odd_hosts(), 0U);
}

TEST(Oddness, ProcessesOfAnotherUser) {
  FakePod pod(4);
  for (std::size_t i = 0; i < 3; ++i)
    pod.hosts[2].holders.push_back({.pid = 900 + i,
                                    .uid = 1007,
                                    .user = "alice",
                                    .name = "python",
                                    .mark = "",
                                    .devices = {"/dev/nvidia" + std::to_string(i)}});
  pod.hosts[3].holders.push_back({.pid = 7, .uid = 0, .user = "root", .name = "nvidia-smi", .mark = ""});
  pod.step();
  EXPECT_EQ(pod.odd(2), "alice: python on GPU 0-2");
  EXPECT_EQ(pod.odd(3), "");
}

TEST(Oddness, AnotherUserThanOursWhoHasMostHosts) {
  FakePod pod(4);
  for (FakeHost& host : pod.hosts) host.holders.front() = {.uid = 1007, .user = "alice"};
  pod.step();
  EXPECT_EQ(pod.pod.odd_hosts(), 0U);
}

/// Text of hosts is escaped where it is shown.
TEST(Oddness, NamesTheMountOfTheHost) {
  FakePod pod(1);
  pod.hosts[0].extra = "m 1 ext4 /a\x1b[31m\nd 1 1 rw x 1 100 0 100% /a\x1b[31m\n";
  pod.step();
  EXPECT_THAT(pod.odd(0), HasSubstr("/a\x1b[31m is 100 % full"));
}

TEST(DescribeTrouble, SaysWhatFollows) {
  HostRow row;
  const TimePoint now{std::chrono::seconds(1000)};
  EXPECT_EQ(describe_trouble(row, now), "no answer yet");
  row.state = Presence::lost;
  row.since = now - std::chrono::seconds(25);
  row.trouble = Trouble{.failure = {.stage = link::Stage::connecting, .cause = link::Cause::refused}};
  EXPECT_THAT(describe_trouble(row, now), HasSubstr("refused"));
  row.frame_at = row.since;
  row.trouble->attempt = 3;
  row.trouble->retry_at = now + std::chrono::milliseconds(7500);
  EXPECT_THAT(describe_trouble(row, now), testing::StartsWith("lost 25 s ago: "));
  EXPECT_THAT(describe_trouble(row, now), testing::EndsWith("; attempt 3 in 8 s"));
  row.trouble->retry_at = now;
  EXPECT_THAT(describe_trouble(row, now), testing::EndsWith("; attempt 3"));
  row.since = now - std::chrono::seconds(500);
  EXPECT_THAT(describe_trouble(row, now), testing::StartsWith("lost 8 min ago: "));
}

}  // namespace
}  // namespace podrun::top
