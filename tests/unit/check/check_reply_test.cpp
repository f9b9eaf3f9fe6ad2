// SPDX-License-Identifier: Apache-2.0
#include "podrun/check/check_reply.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/base/answer.hpp"

namespace podrun::check {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

HostFacts facts_of(const std::string& lines) {
  return parse_check_reply("podrun-check n0\n" + lines + "end\n", "n0");
}

TEST(CheckReply, BeginsAfterTheNonce) {
  const std::string noise = "Welcome\nkernel of the rc file\npodrun-check other\npodrun-check n0 not\n";
  const HostFacts facts = parse_check_reply(noise + "podrun-check n0\nkernel 6.1 x86_64\nend\n", "n0");
  EXPECT_TRUE(facts.has_begun);
  EXPECT_TRUE(facts.is_complete);
  EXPECT_EQ(facts.value("kernel"), "6.1 x86_64");
  EXPECT_FALSE(parse_check_reply(noise + "end\n", "n0").has_begun);
}

TEST(CheckReply, StopsAtTheEndLine) {
  const HostFacts facts = parse_check_reply("podrun-check n0\njax 1\nend\njax 2\n", "n0");
  EXPECT_EQ(facts.value("jax"), "1");
}

TEST(CheckReply, NamesTheStepWhereTheHostHung) {
  const HostFacts facts =
      parse_check_reply("podrun-check n0\nlooking_at the file system of /\nlooking_at nvidia-smi\n", "n0");
  EXPECT_TRUE(facts.has_begun);
  EXPECT_FALSE(facts.is_complete);
  EXPECT_EQ(facts.looking_at, "nvidia-smi");
}

TEST(CheckReply, ReadsTheMemoryThatACgroupLeaves) {
  const std::string machine = "memory_total 8388608\nmemory_available 4194304\n";
  HostFacts facts =
      facts_of(machine + "memory_limit 1073741824,1062731776,500000,500000\nmemory_limit 99999999999999,1\n");
  EXPECT_EQ(facts.memory_total, 1073741824U);
  EXPECT_EQ(facts.memory_available, 12010048U);
  facts = facts_of(machine + "memory_limit 1073741824,1073741824\n");
  EXPECT_EQ(facts.memory_available, 0U);
  facts = facts_of("kernel x\n");
  EXPECT_FALSE(facts.memory_total || facts.memory_available);
  facts = facts_of(machine + "memory_limit 99999999999999,1\nmemory_limit x,1\n");
  EXPECT_EQ(facts.memory_total, 8388608ULL << 10U);
  EXPECT_EQ(facts.memory_available, 4194304ULL << 10U);
}

TEST(CheckReply, IgnoresUnknownLines) {
  EXPECT_THAT(facts_of("color blue\nkernel\n\n \njax \n").values, IsEmpty());
}

TEST(CheckReply, ReadsTheClock) {
  EXPECT_EQ(facts_of("time 1795289820.689629928\n").clock, 1795289820s + 689629us);
  EXPECT_EQ(facts_of("time 1795289820.689629928\n").clock_step, 1us);
  for (const char* without : {"1795289820", "1795289820.%N", "1795289820.N"}) {  // a date that knows no %N
    EXPECT_EQ(facts_of(std::string("time ") + without + "\n").clock, 1795289820s);
    EXPECT_EQ(facts_of(std::string("time ") + without + "\n").clock_step, 1s);
  }
  for (const char* bad : {"", "-1", "x", "99999999999999999"})
    EXPECT_EQ(facts_of(std::string("time ") + bad + "\n").clock, std::nullopt);
}

TEST(CheckReply, ReadsDisks) {
  const HostFacts facts = facts_of(
      "disk root /dev/sda1      1000  600 400      60% /\n"
      "disk home server:/all homes 2000 1 1999 1% /mnt/all homes\n"
      "disk tmp tmpfs 10 10 -5 100% /tmp\n");
  ASSERT_EQ(facts.disks.size(), 3);
  EXPECT_EQ(facts.disks[0].role, "root");
  EXPECT_EQ(facts.disks[0].mount, "/");
  EXPECT_EQ(facts.disks[0].size, 1000 * 1024);
  EXPECT_EQ(facts.disks[0].available, 400 * 1024);
  EXPECT_EQ(facts.disks[1].mount, "/mnt/all homes");
  EXPECT_EQ(facts.disks[1].available, 1999 * 1024);
  EXPECT_EQ(facts.disks[2].available, 0);  // beyond what is reserved for root
}

TEST(CheckReply, IgnoresBrokenLinesOfDf) {
  EXPECT_THAT(facts_of("disk root \ndisk root df: /: broken\ndisk root a b c d e% /\n"
                       "disk root 1 2 3 4% /\ndisk root x 99999999999999999999 1 1 1% /\n")
                  .disks,
              IsEmpty());
}

TEST(CheckReply, ReadsAcceleratorsAndWhoHoldsThem) {
  const HostFacts facts = facts_of(
      "device TPU /dev/accel0\ndevice TPU /dev/accel1\npci 0x005e\nsees_own\n"
      "held /dev/accel0 1234 alice TPU j1 my python\nheld /dev/accel0 x alice TPU j1 python3\nheld\n"
      "held /dev/accel0 1235 alice TPU - sh\nheld /dev/accel0 1236 alice TPU $(id) sh\n");
  EXPECT_THAT(facts.devices, ElementsAre(Device{"TPU", "/dev/accel0"}, Device{"TPU", "/dev/accel1"}));
  EXPECT_THAT(facts.pci, ElementsAre("0x005e"));
  EXPECT_TRUE(facts.sees_own);
  ASSERT_EQ(facts.holders.size(), 3);
  EXPECT_EQ(facts.holders[0].kind, "TPU");
  EXPECT_EQ(facts.holders[0].device, "/dev/accel0");
  EXPECT_EQ(facts.holders[0].pid, 1234);
  EXPECT_EQ(facts.holders[0].user, "alice");
  EXPECT_EQ(facts.holders[0].command, "my python");
  EXPECT_EQ(facts.holders[0].job, "j1");
  EXPECT_EQ(facts.holders[1].job, "");
  EXPECT_EQ(facts.holders[2].job, "") << "no name of a job";
}

TEST(CheckReply, ReadsVersions) {
  const HostFacts facts = facts_of("python 3.10.12\njax 0.4.35\nlibtpu 0.1.dev1\n");
  EXPECT_EQ(facts.value("python"), "3.10.12");
  EXPECT_EQ(facts.value("jax"), "0.4.35");
  EXPECT_EQ(facts.value("libtpu"), "0.1.dev1");
  EXPECT_EQ(facts.value("torch"), "");
}

TEST(CheckReply, LimitsWhatItKeeps) {
  std::string lines = "jax " + std::string(5000, 'x') + "\n";
  for (int i = 0; i < 2000; ++i)
    lines += "device TPU /dev/accel0\nheld /dev/accel0 1 u TPU - c\ndisk root a 1 1 1 1% /\n";
  const HostFacts facts = facts_of(lines);
  EXPECT_EQ(facts.value("jax").size(), kMostOfText);
  EXPECT_EQ(facts.devices.size(), kMostEntries);
  EXPECT_EQ(facts.holders.size(), kMostEntries);
  EXPECT_EQ(facts.disks.size(), kMostEntries);
}

}  // namespace
}  // namespace podrun::check
