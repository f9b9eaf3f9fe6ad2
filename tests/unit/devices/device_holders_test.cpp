// SPDX-License-Identifier: Apache-2.0
#include "podrun/devices/device_holders.hpp"

#include <string>

#include <gmock/gmock.h>

namespace podrun::devices {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(DeviceHolders, ReadsEverythingAfterTheFirstLine) {
  const DeviceHolders list = parse_device_holders(
      "process 1 1 1 1 S noise\n\npodrun-kill n\n"
      "uid 1000\nsees all\ndevice /dev/accel0\nown_cgroup /a\nabove 7\nabove 6\n"
      "process 12 3456 1001 90 D python 3\nowner 12 bob\ncommand 12 python train.py --lr 1\n"
      "mark 12 abc.0.\nlive 12\ncgroup 12 /docker/x\nholds 12 /dev/accel0\nholds 12 /dev/accel0\nholds 12 "
      "/dev/accel1\n"
      "killed 12 python 3\nkilled 13 \nkilled 12 python\nkilled x\nunlocked /tmp/libtpu_lockfile\n"
      "locked pid 9 (x) holds /tmp/a\nend\n",
      "podrun-kill n");
  EXPECT_TRUE(list.is_complete);
  EXPECT_TRUE(list.sees_all);
  EXPECT_EQ(list.uid, 1000U);
  EXPECT_EQ(list.cgroup, "/a");
  EXPECT_THAT(list.devices, ElementsAre("/dev/accel0"));
  EXPECT_THAT(list.above, ElementsAre(7, 6));
  EXPECT_THAT(list.killed, ElementsAre(KilledProcess{12, "python 3"}, KilledProcess{13, ""}));
  EXPECT_THAT(list.removed_locks, ElementsAre("/tmp/libtpu_lockfile"));
  EXPECT_EQ(list.kept_lock, "pid 9 (x) holds /tmp/a");
  ASSERT_THAT(list.holders, SizeIs(1));
  const DeviceHolder& holder = list.holders.front();
  EXPECT_EQ(holder.pid, 12U);
  EXPECT_EQ(holder.start, 3456U);
  EXPECT_EQ(holder.uid, 1001U);
  EXPECT_EQ(holder.user, "bob");
  EXPECT_EQ(holder.age, std::chrono::seconds(90));
  EXPECT_EQ(holder.state, 'D');
  EXPECT_EQ(holder.name, "python 3");
  EXPECT_EQ(holder.command, "python train.py --lr 1");
  EXPECT_EQ(holder.mark, "abc.0.");
  EXPECT_TRUE(holder.run_lives);
  EXPECT_EQ(holder.cgroup, "/docker/x");
  EXPECT_THAT(holder.devices, ElementsAre("/dev/accel0", "/dev/accel1"));
}

TEST(DeviceHolders, IgnoresBrokenLines) {
  const DeviceHolders list = parse_device_holders(
      "podrun-kill n\nprocess\nprocess 0 1 1 1 S x\nprocess -1 1 1 1 S x\nprocess 1 x 1 1 S x\nprocess 1 1 u "
      "1 S x\n"
      "process 1 1 1 99999999999999999999 S x\nprocess 1 1 1 1 SS x\nholds 5 /dev/accel0\nholds\nabove x\n"
      "process 4 4 4 4 S one\nprocess 4 5 4 4 S two\nwhat is this\n",
      "podrun-kill n");
  EXPECT_FALSE(list.is_complete);
  ASSERT_THAT(list.holders, SizeIs(1));
  EXPECT_EQ(list.holders.front().name, "one");
  EXPECT_THAT(list.above, IsEmpty());
}

TEST(DeviceHolders, IgnoresTheListOfAnotherRun) {
  EXPECT_FALSE(parse_device_holders("podrun-kill m\nend\n", "podrun-kill n").is_complete);
}

TEST(DeviceHolders, ReadsSingleLines) {
  DeviceHolders list;
  for (const std::string line : {"mark_of_host abc.0.", "mark_of_host def.1.", "end"}) read_line(list, line);
  EXPECT_TRUE(list.is_complete);
  EXPECT_THAT(list.marks, ElementsAre("abc.0.", "def.1."));
}

TEST(DeviceHolders, LimitsWhatItKeeps) {
  std::string output = "podrun-kill n\n";
  for (int pid = 1; pid < 5000; ++pid) output += "process " + std::to_string(pid) + " 1 1 1 S x\n";
  output += "command 1 " + std::string(5000, 'x') + "\n";
  const DeviceHolders list = parse_device_holders(output, "podrun-kill n");
  EXPECT_THAT(list.holders, SizeIs(1024));
  EXPECT_THAT(list.holders.front().command, SizeIs(512));
}

}  // namespace
}  // namespace podrun::devices
