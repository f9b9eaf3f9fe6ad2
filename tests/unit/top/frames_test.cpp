// SPDX-License-Identifier: Apache-2.0
#include "podrun/top/frames.hpp"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "podrun/link/failure.hpp"

namespace podrun::top {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// What a host has said.
class Frames : public testing::Test {
 protected:
  bool feed(const std::string& text) { return reader_.feed(text); }
  HostReport report_;
  FrameReader reader_{report_};
};

constexpr std::string_view kFrame =
    "f u5000.25 i1000000.50 l51.20 t2210 M2097152 A1048576 S1024 F512 pc0.40 pm1.50 pi2.00 n100,200 d8,16 "
    "c1,2,3,4,5,6,7,8 o3 Lmlx5_0,ACTIVE,400 Neth0,up,25000 x41 x42\n";

TEST_F(Frames, ReadsEveryWord) {
  EXPECT_TRUE(feed(std::string(kFrame)));
  ASSERT_TRUE(report_.now && report_.slow);
  const Counters& now = *report_.now;
  EXPECT_EQ(now.at, 5000.25);
  EXPECT_EQ(now.idle, 1000000.5);
  EXPECT_EQ(now.load, 51.2);
  EXPECT_EQ(now.memory_total, 2048ULL << 20U);
  EXPECT_EQ(now.memory_available, 1024ULL << 20U);
  EXPECT_EQ(now.swap_total, 1024ULL << 10U);
  EXPECT_EQ(now.swap_free, 512ULL << 10U);
  EXPECT_EQ(now.cpu_pressure, 0.4);
  EXPECT_EQ(now.memory_pressure, 1.5);
  EXPECT_EQ(now.net->out, 200U);
  EXPECT_EQ(now.disk->in, 8U * 512);
  EXPECT_THAT(report_.slow->cpu_ticks, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(report_.slow->oom_kills, 3U);
  ASSERT_THAT(report_.slow->links, SizeIs(2));
  EXPECT_EQ(report_.slow->links[0].name, "mlx5_0");
  EXPECT_EQ(report_.slow->links[1].speed, 25000U);
  EXPECT_THAT(report_.gone, ElementsAre(41, 42));
}

TEST_F(Frames, ReadsLinesInAnyPieces) {
  for (std::size_t size : {1UL, 2UL, 3UL, 7UL, 64UL}) {
    HostReport report;
    FrameReader reader(report);
    std::size_t frames = 0;
    const std::string text = "s cores=4\n" + std::string(kFrame) + std::string(kFrame);
    for (std::size_t at = 0; at < text.size(); at += size)
      frames += reader.feed(std::string_view(text).substr(at, size)) ? 1 : 0;
    EXPECT_EQ(frames, 2U) << size;
    EXPECT_EQ(report.cores, 4U);
    EXPECT_EQ(report.now->at, 5000.25);
  }
}

TEST_F(Frames, TheLimitOfAContainerIsItsMemory) {
  EXPECT_TRUE(feed("f u1 M8388608 A4194304 m1073741824,1062731776,500000,500000 m2147483648,1,0,0\n"));
  EXPECT_EQ(report_.now->memory_total, 1073741824U);
  EXPECT_EQ(report_.now->memory_available, 12010048U);
  EXPECT_TRUE(feed("f u1 M8388608 A4194304 m1073741824,2073741824 m99999999999999,1\n"));
  EXPECT_EQ(report_.now->memory_available, 0U);
  for (const std::string bad : {"", "0,0", "x,1", "1073741824", "1073741824,-1"}) {
    EXPECT_TRUE(feed("f u1 M8388608 A4194304 m" + bad + "\n"));
    EXPECT_EQ(report_.now->memory_total, 8388608ULL << 10U) << bad;
    EXPECT_EQ(report_.now->memory_available, 4194304ULL << 10U) << bad;
  }
}

TEST_F(Frames, TakesThePortsOfTpusInAscendingOrder) {
  feed("t 10 8433 8431 8434 8432\n");
  EXPECT_THAT(report_.metric_ports, ElementsAre(8431, 8432, 8433, 8434));
}

TEST_F(Frames, DoNotKnowWhatIsNotSaid) {
  EXPECT_TRUE(feed("f u1\n"));
  const Counters& now = *report_.now;
  EXPECT_FALSE(now.idle || now.load || now.memory_total || now.memory_available);
  EXPECT_FALSE(now.swap_total || now.swap_free || now.cpu_pressure || now.memory_pressure);
  EXPECT_FALSE(now.net || now.disk || report_.slow || report_.chips_at || report_.clock);
  EXPECT_EQ(report_.cores, 0U);
}

TEST_F(Frames, DoNotBelieveWhatIsNoNumber) {
  for (const std::string bad :
       {"", "-1", "inf", "nan", "1x", "0x10", "99999999999999999999", "1e300", "\x1b[2J"}) {
    EXPECT_TRUE(feed(fmt::format(
        "f u1 i{0} l{0} t{0} M{0} A{0} S{0} F{0} pc{0} pm{0} pi{0} n{0},{0} d{0},1 o{0}\n", bad)));
    const Counters& now = *report_.now;
    EXPECT_FALSE(now.idle || now.load || now.memory_total || now.memory_available) << bad;
    EXPECT_FALSE(now.swap_total || now.swap_free || now.cpu_pressure || now.memory_pressure) << bad;
    EXPECT_FALSE(now.net || now.disk) << bad;
  }
}

TEST_F(Frames, DoNotBelieveATickThatIsNoNumber) {
  EXPECT_TRUE(feed("f u1 c1,x,3\n"));
  EXPECT_TRUE(feed("f u2 pm101 c\n"));
  EXPECT_FALSE(report_.now->memory_pressure);
}

TEST_F(Frames, IgnoresUnknownLines) {
  EXPECT_FALSE(feed("z 1 2 3\n\n\n f u1\nfu1\nff u1\n"));
  EXPECT_FALSE(report_.now);
}

TEST_F(Frames, IgnoresLinesThatAreTooLong) {
  EXPECT_FALSE(feed("f u1 l" + std::string(5000, '1') + "\n"));
  EXPECT_FALSE(report_.now);
  EXPECT_TRUE(feed("f u2\n"));
  EXPECT_EQ(report_.now->at, 2);
}

TEST_F(Frames, GivesUpAHostThatFloods) {
  const std::string junk(1000, 'x');
  const auto flood = [&] {
    for (std::size_t i = 0; i < 300; ++i) feed(junk + "\n");
  };
  EXPECT_THROW(flood(), link::HostError);
}

TEST_F(Frames, CountsFromTheLastFrameOn) {
  const std::string junk(1000, 'x');
  for (std::size_t i = 0; i < 1000; ++i)
    EXPECT_EQ(feed(junk + (i % 200 == 0 ? "\nf u1\n" : "\n")), i % 200 == 0);
}

TEST_F(Frames, ReadsFacts) {
  feed(
      "s cores=224 user=1000 tpus=4 nvidia=8 tpu=0x0062 tpu=0x0062 gpu=0x2330 new=1\nn NVIDIA H100 80GB "
      "HBM3\n");
  EXPECT_EQ(report_.cores, 224U);
  EXPECT_EQ(report_.uid, 1000U);
  EXPECT_EQ(report_.tpus, 4U);
  EXPECT_EQ(report_.gpus, 8U);
  EXPECT_EQ(report_.pci_gpus, 1U);
  EXPECT_THAT(report_.pci_tpus, ElementsAre("0x0062", "0x0062"));
  EXPECT_EQ(report_.gpu_name, "NVIDIA H100 80GB HBM3");
}

TEST_F(Frames, LimitsWhatAHostClaimsToHave) {
  std::string line = "s nvidia=10000 tpus=10000";
  for (int i = 0; i < 400; ++i) line += " gpu=1";
  feed(line + "\n");
  EXPECT_LE(report_.gpus, 64U);
  EXPECT_LE(report_.tpus, 64U);
  EXPECT_LE(report_.pci_gpus, 64U);
  for (int i = 0; i < 10'000; ++i)
    feed(fmt::format("g 1 {}, 1, 1, 1, 1, 1, 1, 1, 0, 0x0\n{}", i, i % 100 ? "" : "f u1\n"));
  EXPECT_LE(report_.chips.size(), 64U);
  std::string frame = "f u2";
  for (int i = 0; i < 200; ++i) frame += " a1,2,3,4,5 N,, x1";
  EXPECT_TRUE(feed(frame + "\n"));
  EXPECT_LE(report_.chips.size(), 64U);
  EXPECT_LE(report_.slow ? report_.slow->links.size() : 0, 64U);
}

TEST_F(Frames, NoticesAReboot) {
  feed("f u5000 c1,0,0,0,0,0,0,0\nf u5002 c2,0,0,0,0,0,0,0\n");
  EXPECT_FALSE(report_.has_rebooted);
  feed("f u30 c1,0,0,0,0,0,0,0\n");
  EXPECT_TRUE(report_.has_rebooted);
  EXPECT_FALSE(report_.before || report_.slow_before);
  feed("f u32\n");
  EXPECT_FALSE(report_.has_rebooted);
}

/// Times of what was said before are those of another boot.
TEST_F(Frames, ForgetsWhatIsOlderThanTheReboot) {
  feed(
      "s nvidia=1\nm 0 ext4 /\nm 1 nfs /home\nf u5000\nc 5000 1700005000\nd 5000 0 rw /dev/sda 100 50 50 50% "
      "/\n"
      "h 5000 begin\nh 5000 end\ng 5000 0, 1, 1, 1, 1, 1, 1, 1, 0, 0x0\n");
  report_.mounts[1].is_asked = report_.mounts[1].is_silent = true;
  report_.mounts[1].asked_at = 4900;
  feed("f u30\n");
  EXPECT_TRUE(report_.has_rebooted);
  EXPECT_FALSE(report_.clock || report_.chips_at || report_.holders);
  EXPECT_THAT(report_.chips, IsEmpty());
  EXPECT_THAT(report_.mounts, SizeIs(2));
  EXPECT_FALSE(report_.mounts[0].at || report_.mounts[0].percent_used());
  EXPECT_FALSE(report_.mounts[1].is_asked || report_.mounts[1].is_silent);
  EXPECT_EQ(report_.mounts[1].asked_at, 0);
}

TEST_F(Frames, AFrameWithoutUptimeIsNoReboot) {
  feed("f u5000\nf l1\nf u5004\n");
  EXPECT_FALSE(report_.has_rebooted);
  feed("f l1\n");
  EXPECT_FALSE(report_.has_rebooted);
}

TEST_F(Frames, ReadsTheClock) {
  feed("c 5000.5 1700005000.75\n");
  EXPECT_EQ(report_.clock, 1700000000.25);
  feed("c 5000 1700005000.%N\n");
  EXPECT_EQ(report_.clock, 1700000000);
  feed("c 5000 yesterday\n");
  EXPECT_EQ(report_.clock, 1700000000);
}

TEST_F(Frames, ReadsFileSystems) {
  feed("m 0 ext4 /\nm 1 nfs /my data\nm 9 ext4 /ninth\nm x ext4 /x\n");
  ASSERT_THAT(report_.mounts, SizeIs(2));
  report_.mounts[0].is_asked = report_.mounts[0].is_silent = true;
  feed(
      "d 10.5 0 rw /dev/root 1000 600 200 75% /\nd 10.5 1 ro //a b/c d 1000 500 500 50% /my data\nd 1 7 rw "
      "a\nd 1 0\n");
  const Mount& root = report_.mounts[0];
  EXPECT_FALSE(root.is_asked || root.is_silent || root.is_read_only);
  EXPECT_TRUE(root.was_writable);
  EXPECT_EQ(root.at, 10.5);
  EXPECT_EQ(root.size, 800U * 1024);
  EXPECT_EQ(root.percent_used(), 75);
  EXPECT_TRUE(report_.mounts[1].is_read_only);
  EXPECT_EQ(report_.mounts[1].percent_used(), 50);
}

TEST_F(Frames, DoNotKnowAFileSystemWithoutAnAnswer) {
  feed("m 0 nfs /home\n");
  for (const std::string line : {"", "df: /home: Stale file handle", "x 1 2 /home", "a -1 1 1 1% /home",
                                 "a 1 1 99999999999999999999 1% /home", "none 0 0 0 - /home"}) {
    feed("d 10 0 rw " + line + "\n");
    EXPECT_FALSE(report_.mounts[0].percent_used()) << line;
  }
}

TEST_F(Frames, AskAgainAfterANewConnection) {
  feed("m 0 nfs /home\n");
  report_.mounts[0].is_asked = report_.mounts[0].is_silent = true;
  FrameReader next(report_);
  next.feed("m 0 nfs /home\n");
  EXPECT_FALSE(report_.mounts[0].is_asked);
  EXPECT_TRUE(report_.mounts[0].is_silent);  // a process of podrun hangs there
}

TEST_F(Frames, ReadsHolders) {
  feed("h 50 begin\nh 50 uid 1000\nh 50 process 12 345 1000 90 S my python\nh 50 user 12 bob\n");
  EXPECT_FALSE(report_.holders);
  feed("h 50 holds 12 /dev/nvidia0\nf u52\nh 50 end\n");
  ASSERT_TRUE(report_.holders);
  EXPECT_EQ(report_.holders_at, 50);
  ASSERT_THAT(report_.holders->holders, SizeIs(1));
  EXPECT_EQ(report_.holders->holders[0].name, "my python");
}

TEST_F(Frames, KeepsTheLastListUntilTheNextIsComplete) {
  feed(
      "h 50 begin\nh 50 process 12 345 1000 90 S a\nh 50 end\nh 60 begin\nh 60 process 13 345 1000 90 S b\n");
  ASSERT_TRUE(report_.holders);
  EXPECT_EQ(report_.holders->holders[0].pid, 12U);
  FrameReader next(report_);  // the connection broke
  next.feed("h 60 end\nh x begin\nh\n");
  EXPECT_EQ(report_.holders->holders[0].pid, 12U);
  EXPECT_EQ(report_.holders_at, 50);
  next.feed("h 70 begin\nh 70 end\n");
  EXPECT_THAT(report_.holders->holders, IsEmpty());
}

}  // namespace
}  // namespace podrun::top
