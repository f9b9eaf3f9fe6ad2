// SPDX-License-Identifier: Apache-2.0
#include "podrun/restarts/settled_host.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "podrun/base/answer.hpp"

namespace podrun::restarts {
namespace {

using State = HostAfterTry::State;

/// A whole answer with these lines.
SettledHost parse(const std::string& lines) {
  return parse_settled_host("\npodrun-settled 5f2c\n" + lines + "end\n", "5f2c");
}

SettledHost host(const std::string& boot, const std::string& machine,
                 std::optional<std::uint64_t> oom_kills = std::nullopt) {
  return {.is_complete = true, .boot = boot, .machine = machine, .oom_kills = oom_kills};
}

TEST(SettledHost, IsReadFromItsLines) {
  const SettledHost host = parse(
      "boot 8d9c\nmachine 01ab\noom 17\n"
      "left 4711 D python3\nholder 4712 /dev/accel0 my prog\n");
  EXPECT_TRUE(host.is_complete);
  EXPECT_EQ(host.boot, "8d9c");
  EXPECT_EQ(host.machine, "01ab");
  EXPECT_EQ(host.oom_kills, 17U);
  const std::vector<Obstacle> obstacles = {{.pid = 4711, .name = "python3", .state = 'D', .is_left = true},
                                           {.pid = 4712, .name = "my prog", .device = "/dev/accel0"}};
  EXPECT_EQ(host.obstacles, obstacles);
}

TEST(SettledHost, IgnoresWatchersThatHaveADeviceOpen) {
  const SettledHost host = parse("holder 12 /dev/nvidia0 nvidia-smi\nholder 13 /dev/nvidia0 python3\n");
  const std::vector<Obstacle> obstacles = {{.pid = 13, .name = "python3", .device = "/dev/nvidia0"}};
  EXPECT_EQ(host.obstacles, obstacles);
  EXPECT_FALSE(parse("left 12 S nvidia-smi\n").obstacles.empty()) << "of the try";
}

TEST(SettledHost, NamesAProcessOnceThatIsLeftAndHoldsADevice) {
  const SettledHost host = parse("left 12 S python3\nholder 12 /dev/accel0 python3\n");
  const std::vector<Obstacle> obstacles = {
      {.pid = 12, .name = "python3", .state = 'S', .is_left = true, .device = "/dev/accel0"}};
  EXPECT_EQ(host.obstacles, obstacles);
}

TEST(SettledHost, IsIncompleteWithoutItsEnd) {
  EXPECT_FALSE(parse_settled_host("", "5f2c").is_complete);
  EXPECT_FALSE(parse_settled_host("podrun-settled 5f2c\nboot 8d9c\n", "5f2c").is_complete);
  EXPECT_FALSE(parse_settled_host("podrun-settled 5f2c\nboot 8d9c\nend of it\n", "5f2c").is_complete);
  EXPECT_FALSE(parse_settled_host("podrun-settled 5f2c\nboot 8d9c\nen", "5f2c").is_complete);
}

TEST(SettledHost, BeginsAfterTheNonce) {
  const SettledHost host = parse_settled_host(
      "Welcome\nend\nboot motd\npodrun-settled 0000\nboot other\nend\npodrun-settled 5f2c\nend\n", "5f2c");
  EXPECT_TRUE(host.is_complete);
  EXPECT_EQ(host.boot, "");
  EXPECT_FALSE(parse_settled_host("podrun-settled 0000\nboot 8d9c\nend\n", "5f2c").is_complete);
  EXPECT_FALSE(parse_settled_host(" podrun-settled 5f2c\nend\n", "5f2c").is_complete);
}

TEST(SettledHost, EndsAtItsEnd) {
  EXPECT_EQ(parse_settled_host("podrun-settled 5f2c\nboot 8d9c\nend\nboot 0000\nleft 1 S sh\n", "5f2c"),
            parse("boot 8d9c\n"));
}

TEST(SettledHost, MayKnowLittle) {
  const SettledHost host = parse("oom\n");
  EXPECT_TRUE(host.is_complete);
  EXPECT_EQ(host.boot, "");
  EXPECT_EQ(host.machine, "");
  EXPECT_EQ(host.oom_kills, std::nullopt);
  EXPECT_TRUE(host.obstacles.empty());
}

TEST(SettledHost, IgnoresBrokenLines) {
  for (const char* line :
       {"", " ", "left", "left ", "left x S sh", "left -1 S sh", "left 99999999999999999999 S sh", "holder",
        "holder /dev/accel0", "oom", "oom ", "oom x", "oom -1", "oom oom_kill 17", "LEFT 1 S sh",
        "unknown 1 2 3", "\x1b[2J", "left\t1 S sh"})
    EXPECT_EQ(parse(std::string(line) + '\n'), parse("")) << line;
}

TEST(SettledHost, TakesShortLinesAsFarAsTheyGo) {
  const std::vector<Obstacle> obstacles = {
      {.pid = 1, .is_left = true}, {.pid = 2, .state = 'Z', .is_left = true}, {.pid = 3}};
  EXPECT_EQ(parse("left 1\nleft 2 Z\nholder 3\n").obstacles, obstacles);
}

TEST(SettledHost, HasLimits) {
  const std::string long_text(1000, 'x');
  std::string lines = "boot " + long_text + "\nmachine " + long_text + "\n";
  for (int pid = 1; pid <= 2000; ++pid)
    lines += fmt::format("holder {} /dev/{} {}\n", pid, long_text, long_text);
  const SettledHost host = parse(lines);
  EXPECT_TRUE(host.is_complete);
  EXPECT_EQ(host.boot.size(), kMostOfText);
  EXPECT_EQ(host.machine.size(), kMostOfText);
  ASSERT_EQ(host.obstacles.size(), kMostEntries);
  EXPECT_EQ(host.obstacles.front().name.size(), 64U);
  EXPECT_EQ(host.obstacles.front().device.size(), 64U);
}

TEST(SettledHost, KeepsBytesAsTheyCome) {
  const SettledHost host = parse("left 7 D a\x1b[31m\xff\r\n");
  ASSERT_EQ(host.obstacles.size(), 1U);
  EXPECT_EQ(host.obstacles[0].name, "a\x1b[31m\xff\r") << "they are escaped when they are shown";
}

TEST(CompareSettledHosts, FindsAReadyHost) {
  const HostAfterTry found = compare(host("a", "m", 3), host("a", "m", 3));
  EXPECT_EQ(found.state, State::ready);
  EXPECT_FALSE(found.was_rebooted || found.was_replaced || found.ran_out_of_memory);
}

TEST(CompareSettledHosts, TakesAnIncompleteAnswerForNone) {
  SettledHost now = host("b", "n", 9);
  now.is_complete = false;
  const HostAfterTry found = compare(host("a", "m", 3), now);
  EXPECT_EQ(found.state, State::missing);
  EXPECT_FALSE(found.was_rebooted || found.was_replaced || found.ran_out_of_memory);
}

TEST(CompareSettledHosts, FindsABusyHost) {
  SettledHost now = host("a", "m");
  now.obstacles = {{.pid = 12, .name = "python3"}};
  EXPECT_EQ(compare(host("a", "m"), now).state, State::busy);
}

std::size_t obstacles_left(SettledHost now, const SettledHost& before) {
  forget_sharers(now, before);
  return now.obstacles.size();
}

TEST(ForgetSharers, RemovesHoldersThatWereThereBefore) {
  SettledHost before = host("a", "m");
  before.obstacles = {{.pid = 12, .name = "tpu-runtime", .device = "/dev/accel0"}};
  SettledHost now = before;
  EXPECT_EQ(obstacles_left(now, before), 0U);
  now.obstacles[0].pid = 13;
  EXPECT_EQ(obstacles_left(now, before), 1U);
  now.boot = "b";
  EXPECT_EQ(obstacles_left(now, before), 0U) << "the daemon has started again";
  now.obstacles[0].name = "python3";
  EXPECT_EQ(obstacles_left(now, before), 1U);
  now = before;
  now.obstacles[0].is_left = true;
  EXPECT_EQ(obstacles_left(now, before), 1U) << "of the last try";
}

TEST(CompareSettledHosts, TellsARebootFromAnotherMachine) {
  EXPECT_TRUE(compare(host("a", "m"), host("b", "m")).was_rebooted);
  EXPECT_FALSE(compare(host("a", "m"), host("b", "m")).was_replaced);
  EXPECT_TRUE(compare(host("a", "m"), host("b", "n")).was_replaced);
}

TEST(CompareSettledHosts, CountsMemoryKillsOfOneBoot) {
  EXPECT_TRUE(compare(host("a", "m", 3), host("a", "m", 4)).ran_out_of_memory);
  EXPECT_FALSE(compare(host("a", "m", 3), host("a", "m")).ran_out_of_memory);
  EXPECT_FALSE(compare(host("a", "m"), host("a", "m", 4)).ran_out_of_memory);
  EXPECT_FALSE(compare(host("a", "m", 3), host("b", "m", 4)).ran_out_of_memory) << "since another boot";
}

TEST(CompareSettledHosts, SaysNothingOfAHostThatWasNotKnown) {
  const HostAfterTry found = compare({}, host("b", "n", 4));
  EXPECT_EQ(found.state, State::ready);
  EXPECT_FALSE(found.was_rebooted || found.was_replaced || found.ran_out_of_memory);
}

}  // namespace
}  // namespace podrun::restarts
