// SPDX-License-Identifier: Apache-2.0
#include "podrun/top/host_detail.hpp"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace podrun::top {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

std::string process(std::size_t pid, const std::string& name, std::size_t ticks, std::size_t pages = 256,
                    std::size_t start = 1000) {
  return fmt::format("{} ({}) S 1 1 1 0 -1 4194560 1 0 0 0 {} 0 0 0 20 0 1 0 {} 1000000 {} 184467 1 1 0 0\n",
                     pid, name, ticks, start, pages);
}
std::string text(double uptime, const std::string& lines) {
  return fmt::format(
      "uptime {} 100 4096\n{}\n"
      "dr-xr-xr-x 9 root   root 0 Nov 28 18:00 /proc/1\n"
      "dr-xr-xr-x 9 my-user users 0 Nov 28 18:00 /proc/42\n\nend\n",
      uptime, lines);
}

TEST(HostDetail, ReadsProcesses) {
  const HostDetail detail = read_detail(3, text(100, process(42, "python", 500)), {});
  EXPECT_EQ(detail.host, 3U);
  EXPECT_EQ(detail.at, 100);
  ASSERT_THAT(detail.processes, SizeIs(1));
  const HostProcess& one = detail.processes.front();
  EXPECT_EQ(one.pid, 42U);
  EXPECT_EQ(one.user, "my-user");
  EXPECT_EQ(one.name, "python");
  EXPECT_EQ(one.state, 'S');
  EXPECT_EQ(one.memory, 256U * 4096);
  EXPECT_EQ(one.age, 90);
  EXPECT_FALSE(one.cpu);
}

TEST(HostDetail, CpuIsThatSinceTheLastList) {
  const HostDetail first = read_detail(3, text(100, process(42, "a", 500) + process(43, "b", 500)), {});
  const std::string later =
      text(102, process(42, "a", 700) + process(43, "b", 510) + process(44, "new", 900));
  const HostDetail second = read_detail(3, later, first);
  ASSERT_THAT(second.processes, SizeIs(3));
  EXPECT_EQ(second.processes[0].cpu, 100);
  EXPECT_EQ(second.processes[1].cpu, 5);
  EXPECT_FALSE(second.processes[2].cpu);
  EXPECT_FALSE(read_detail(4, later, first).processes[0].cpu);                            // another host
  EXPECT_FALSE(read_detail(3, text(99, process(42, "a", 700)), first).processes[0].cpu);  // rebooted
}

TEST(HostDetail, ANewProcessWithAnOldPidIsNew) {
  const HostDetail first = read_detail(3, text(100, process(42, "a", 500)), {});
  EXPECT_FALSE(read_detail(3, text(102, process(42, "a", 600, 256, 10'100)), first).processes[0].cpu);
  EXPECT_FALSE(read_detail(3, text(102, process(42, "a", 400)), first).processes[0].cpu);
}

TEST(HostDetail, NamesMayContainAnything) {
  for (const std::string name : {"a b", "a) R 1", "((", "))", "a (b) c", "", "/proc/1", "uptime 9"}) {
    const HostDetail detail = read_detail(0, text(100, process(42, name, 500)), {});
    ASSERT_THAT(detail.processes, SizeIs(1)) << name;
    EXPECT_EQ(detail.processes[0].name, name);
    EXPECT_EQ(detail.processes[0].pid, 42U);
    EXPECT_EQ(detail.at, 100);
  }
}

TEST(HostDetail, ALineEndInANameShowsNoOtherProcess) {
  const std::string evil = "/proc/41/stat:41 (\n/proc/41/stat:7 (python" + process(7, "", 500).substr(3);
  const HostDetail detail = read_detail(0, text(100, evil + "/proc/42/stat:" + process(42, "b", 500)), {});
  ASSERT_THAT(detail.processes, SizeIs(2));
  EXPECT_EQ(detail.processes[0].pid, 41U);
  EXPECT_EQ(detail.processes[0].name, "\n7 (python");
  EXPECT_EQ(detail.processes[1].pid, 42U);
}

/// Old kernels do not escape it.
TEST(HostDetail, ALineEndInANameSpoilsOnlyItsProcess) {
  const HostDetail detail =
      read_detail(0, text(100, process(41, "a\nuptime 5 1 1", 1) + process(42, "b", 500)), {});
  ASSERT_THAT(detail.processes, SizeIs(1));
  EXPECT_EQ(detail.processes[0].pid, 42U);
  EXPECT_EQ(detail.at, 100);
}

TEST(HostDetail, IgnoresWhatIsCut) {
  const std::string line = process(42, "python", 500, 123'456);
  const HostDetail whole = read_detail(0, text(100, line), {});
  for (std::size_t cut = 0; cut < line.size(); ++cut) {
    const HostDetail detail = read_detail(0, text(100, line.substr(0, cut)), {});
    for (const HostProcess& each : detail.processes) EXPECT_EQ(each.memory, whole.processes[0].memory) << cut;
  }
  EXPECT_THAT(read_detail(0, "", {}).processes, IsEmpty());
  EXPECT_EQ(read_detail(0, "uptime\nuptime 5\nuptime x y z\n", {}).at, 0);
}

TEST(HostDetail, AStateIsALetter) {
  std::string line = process(42, "python", 500);
  line.replace(line.find(") S") + 2, 1, "\x1b");
  EXPECT_THAT(read_detail(0, text(100, line), {}).processes, IsEmpty());
}

TEST(HostDetail, ClocksOfTheHostMayBeOdd) {
  const HostDetail detail = read_detail(0, "uptime 100 0 0\n" + process(42, "a", 500, 256, 99'999'999), {});
  ASSERT_THAT(detail.processes, SizeIs(1));
  EXPECT_EQ(detail.processes[0].age, 0);
}

TEST(HostDetail, TheBusiestIsFirstThenTheLargest) {
  const HostDetail first =
      read_detail(0, text(100, process(1, "a", 0) + process(2, "b", 0) + process(3, "c", 0)), {});
  const HostDetail second =
      read_detail(0, text(110, process(1, "a", 0, 10) + process(2, "b", 0, 20) + process(3, "c", 9)), first);
  EXPECT_EQ(second.processes[0].pid, 3U);
  EXPECT_EQ(second.processes[1].pid, 2U);
}

}  // namespace
}  // namespace podrun::top
