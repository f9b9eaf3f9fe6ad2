// SPDX-License-Identifier: Apache-2.0
#include "podrun/devices/device_holders.hpp"

#include <string>

#include <gmock/gmock.h>

#include "podrun/base/answer.hpp"

namespace podrun::devices {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(DeviceHolders, ReadsEverythingAfterTheFirstLine) {
  const DeviceHolders list = read_answer<DeviceHolders>(
      "process 1 1 1 1 S noise\n\npodrun-holders n\n"
      "uid 1000\nsees_all\ndevice /dev/accel0\nown_cgroup /a\nabove 7\nabove 6\n"
      "process 12 3456 1001 90 D python 3\nuser 12 bob\ncommand 12 python train.py --lr 1\n"
      "mark 12 abc.0.\nrun_lives 12\ncgroup 12 /docker/x\nholds 12 /dev/accel0\nholds 12 /dev/accel0\nholds "
      "12 "
      "/dev/accel1\n"
      "killed 12 python 3\nkilled 13 \nkilled 12 python\nkilled x\nremoved_lock /tmp/libtpu_lockfile\n"
      "kept_lock pid 9 (x) holds /tmp/a\nend\n",
      "n");
  EXPECT_TRUE(list.is_complete);
  EXPECT_TRUE(list.sees_all);
  EXPECT_EQ(list.uid, 1000U);
  EXPECT_EQ(list.own_cgroup, "/a");
  EXPECT_THAT(list.devices, ElementsAre("/dev/accel0"));
  EXPECT_THAT(list.above, ElementsAre(7, 6));
  EXPECT_THAT(list.killed, ElementsAre(DeviceHolders::Killed{12, "python 3"}, DeviceHolders::Killed{13, ""}));
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
  const DeviceHolders list = read_answer<DeviceHolders>(
      "podrun-holders n\nprocess\nprocess 0 1 1 1 S x\nprocess -1 1 1 1 S x\nprocess 1 x 1 1 S x\nprocess 1 "
      "1 u "
      "1 S x\n"
      "process 1 1 1 99999999999999999999 S x\nprocess 1 1 1 1 SS x\nholds 5 /dev/accel0\nholds\nabove x\n"
      "process 4 4 4 4 S one\nprocess 4 5 4 4 S two\nwhat is this\n",
      "n");
  EXPECT_FALSE(list.is_complete);
  ASSERT_THAT(list.holders, SizeIs(1));
  EXPECT_EQ(list.holders.front().name, "one");
  EXPECT_THAT(list.above, IsEmpty());
}

TEST(DeviceHolders, IgnoresTheListOfAnotherRun) {
  EXPECT_FALSE(read_answer<DeviceHolders>("podrun-holders m\nend\n", "n").is_complete);
}

TEST(DeviceHolders, ReadsSingleLines) {
  DeviceHolders list;
  for (const std::string line : {"mark_of_host abc.0.", "mark_of_host def.1.", "end"})
    read_answer_line(list, line);
  EXPECT_TRUE(list.is_complete);
  EXPECT_THAT(list.marks, ElementsAre("abc.0.", "def.1."));
}

TEST(DeviceHolders, LimitsWhatItKeeps) {
  std::string output = "podrun-holders n\n";
  for (int pid = 1; pid < 5000; ++pid) output += "process " + std::to_string(pid) + " 1 1 1 S x\n";
  output += "command 1 " + std::string(5000, 'x') + "\n";
  const DeviceHolders list = read_answer<DeviceHolders>(output, "n");
  EXPECT_THAT(list.holders, SizeIs(kMostEntries));
  EXPECT_THAT(list.holders.front().command, SizeIs(kMostOfText));
}

}  // namespace
}  // namespace podrun::devices
