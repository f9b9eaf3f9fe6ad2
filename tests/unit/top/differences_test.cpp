// SPDX-License-Identifier: Apache-2.0
// What is unlike the other hosts of the same accelerators and run.
#include <functional>
#include <string>

#include <gmock/gmock.h>

#include "unit/top/pods.hpp"

namespace podrun::top {
namespace {

FakePod pod_of(std::size_t hosts) { return FakePod(hosts); }

TEST(Differences, NeedThreeOfFiveFrames) {
  FakePod pod = pod_of(8);
  pod.steps(3);
  pod.hosts[2].gpus[4].watts = "400.00";
  pod.steps(2);
  EXPECT_EQ(pod.odd(2), "");
  pod.step();
  EXPECT_EQ(pod.odd(2), "GPU 4: 400 W, the others 655 W");
  EXPECT_EQ(pod.find(2, "watts")->severity, Severity::difference);
  pod.hosts[2].gpus[4].watts = "655.00";
  pod.steps(2);
  EXPECT_NE(pod.odd(2), "");
  pod.step();
  EXPECT_EQ(pod.odd(2), "");
}

TEST(Differences, NameAllChipsWhereAllAreOdd) {
  FakePod pod(8, {}, true);
  for (FakeGpu& gpu : pod.hosts[2].gpus) gpu.watts = "71.00";
  pod.step();
  EXPECT_EQ(pod.odd(2), "all GPUs: 71 W, the others 655 W");
}

TEST(Differences, OneFrameDecidesOnce) {
  FakePod pod(8, {}, true);
  pod.hosts[2].gpus[4].watts = "400.00";
  pod.step();
  EXPECT_EQ(pod.odd(2), "GPU 4: 400 W, the others 655 W");
}

/// How far a figure may be from the others'.
TEST(Differences, HaveFloors) {
  const auto odd = [](const std::function<void(FakeHost&)>& change) {
    FakePod pod(9);
    change(pod.hosts[2]);
    pod.steps(6);
    return pod.odd(2);
  };
  const auto gpu = [&](const std::function<void(FakeGpu&)>& change) {
    return odd([&](FakeHost& host) { change(host.gpus[1]); });
  };
  EXPECT_EQ(gpu([](FakeGpu& each) { each.busy = "79"; }), "");
  EXPECT_EQ(gpu([](FakeGpu& each) { each.busy = "77"; }), "GPU 1: 77 %, the others 98 %");
  EXPECT_EQ(gpu([](FakeGpu& each) { each.watts = "560"; }), "");
  EXPECT_EQ(gpu([](FakeGpu& each) { each.watts = "550"; }), "GPU 1: 550 W, the others 655 W");
  EXPECT_EQ(gpu([](FakeGpu& each) { each.mhz = 1790; }), "");
  EXPECT_EQ(gpu([](FakeGpu& each) { each.mhz = 1700; }), "GPU 1: 1700 MHz, the others 1980 MHz");
  EXPECT_EQ(gpu([](FakeGpu& each) { each.celsius = 76; }), "");
  EXPECT_EQ(gpu([](FakeGpu& each) { each.celsius = 77; }), "GPU 1: 77 °C, the others 64 °C");
  EXPECT_EQ(gpu([](FakeGpu& each) { each.used = 79'000; }), "");
  EXPECT_EQ(gpu([](FakeGpu& each) { each.used = 81'000; }), "GPU 1: HBM 99 %, the others 88 %");
  EXPECT_EQ(odd([](FakeHost& host) { host.cpu = 51; }), "");
  EXPECT_EQ(odd([](FakeHost& host) { host.cpu = 53; }), "CPU 53 %, the others 22 %");
  EXPECT_EQ(odd([](FakeHost& host) { host.ram = 58; }), "");
  EXPECT_EQ(odd([](FakeHost& host) { host.ram = 60; }), "RAM 60 %, the others 44 %");
  EXPECT_EQ(odd([](FakeHost& host) { host.net = 30e9; }), "");
  EXPECT_EQ(odd([](FakeHost& host) { host.net = 4e8; }), "net 400 MB/s, the others 41 GB/s");
  EXPECT_EQ(odd([](FakeHost& host) { host.disk = 9e9; }), "");
  EXPECT_EQ(odd([](FakeHost& host) { host.root = 80; }), "");
}

TEST(Differences, OfATrickleSayNothing) {
  FakePod pod(9, {.net = 1e5});
  pod.hosts[2].net = 9e5;
  pod.steps(6);
  EXPECT_EQ(pod.odd(2), "");
}

/// Six deviations of the others, where they differ anyway.
TEST(Differences, AreMeasuredAgainstWhatIsUsual) {
  FakePod pod(40);
  for (std::size_t host = 0; host < 40; ++host)
    pod.hosts[host].cpu = 20 + 2.0 * static_cast<double>(host % 20);
  pod.hosts[5].cpu = 95;
  pod.steps(6);
  EXPECT_EQ(pod.odd(5), "");
  for (std::size_t host = 0; host < 40; ++host) pod.hosts[host].cpu = 39;
  pod.hosts[5].cpu = 95;
  pod.steps(6);
  EXPECT_EQ(pod.odd(5), "CPU 95 %, the others 39 %");
}

TEST(Differences, NeedFiveHosts) {
  FakePod four = pod_of(4);
  FakePod five = pod_of(5);
  four.hosts[2].cpu = five.hosts[2].cpu = 95;
  four.steps(6);
  five.steps(6);
  EXPECT_EQ(four.odd(2), "");
  EXPECT_EQ(five.odd(2), "CPU 95 %, the others 22 %");
}

TEST(Differences, AreNotBetweenOtherAccelerators) {
  FakePod pod = pod_of(9);
  for (std::size_t host = 0; host < 2; ++host) {
    pod.hosts[host].gpu_name = "Tesla V100-SXM2-16GB";
    for (FakeGpu& gpu : pod.hosts[host].gpus) gpu.watts = "250.00";
  }
  pod.steps(6);
  EXPECT_EQ(pod.odd(0), "");
  EXPECT_EQ(pod.odd(5), "");
}

TEST(Differences, AreNotBetweenOtherRuns) {
  FakePod pod = pod_of(12);
  for (std::size_t host = 0; host < 3; ++host) {  // 75 % of the hosts have the commonest run
    pod.hosts[host].holders.front().mark = "aaaabbbbccccdddd.job-0-evaluate.";
    for (FakeGpu& gpu : pod.hosts[host].gpus) gpu.busy = "30";
  }
  pod.steps(6);
  EXPECT_EQ(pod.odd(0), "");
  EXPECT_EQ(pod.odd(5), "");
}

TEST(Differences, OfMoreThanAQuarterAreTwoGroups) {
  const auto odd_hosts = [](std::size_t others) {
    FakePod pod(20);
    for (std::size_t host = 0; host < others; ++host)
      for (FakeGpu& gpu : pod.hosts[host].gpus) gpu.busy = "30";
    pod.steps(6);
    return pod.pod.odd_hosts();
  };
  EXPECT_EQ(odd_hosts(5), 5U);
  EXPECT_EQ(odd_hosts(6), 0U);
}

TEST(Differences, AreNotMadeByWhatIsNotKnown) {
  FakePod pod = pod_of(9);
  for (FakeGpu& gpu : pod.hosts[3].gpus) gpu.busy = gpu.watts = "[N/A]";
  pod.steps(6);
  EXPECT_EQ(pod.odd(3), "");
}

TEST(Differences, AFrameCountsOnce) {
  FakePod pod = pod_of(9);
  pod.steps(2);
  pod.hosts[3].cpu = 99;
  pod.step();
  for (int i = 0; i < 5; ++i) pod.judge();  // the screen is painted more often than frames come
  EXPECT_EQ(pod.odd(3), "");
}

TEST(Differences, AreForgottenOverALostConnection) {
  FakePod pod = pod_of(9);
  pod.hosts[3].cpu = 99;
  pod.steps(4);
  EXPECT_NE(pod.odd(3), "");
  pod.lose(3);
  pod.reconnect(3);
  pod.steps(3);
  EXPECT_THAT(pod.odd(3), testing::Not(testing::HasSubstr("CPU")));
}

}  // namespace
}  // namespace podrun::top
