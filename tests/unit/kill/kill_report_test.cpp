// SPDX-License-Identifier: Apache-2.0
#include "podrun/kill/kill_report.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace podrun::kill {
namespace {

using testing::ElementsAre;
using namespace std::chrono_literals;

const std::vector<hosts::Host> kHosts = {
    {.worker = 0, .name = "a"}, {.worker = 1, .name = "b"}, {.worker = 2, .name = "c"}};

Choice choice(std::uint64_t pid, std::string why_kept = {}) {
  devices::DeviceHolder holder{
      .pid = pid, .start = 5, .age = 7200s, .name = "python3", .user = "ada", .command = "python3 train.py"};
  return {.holder = std::move(holder), .why_kept = std::move(why_kept)};
}

TEST(KillReport, FoldsEqualProcesses) {
  std::vector<ListedHost> listed = {{0, {}, {choice(10), choice(11)}}, {1, {}, {choice(12)}}};
  listed[1].choices.front().holder.age = 59s;
  EXPECT_THAT(describe_choices(kHosts, listed, " - "),
              ElementsAre("[0,1] 3 processes of ada - 59 s to 2 h - python3 train.py"));
}

TEST(KillReport, ShowsWhatIsStoppedBeforeWhatStays) {
  const std::vector<ListedHost> listed = {{0, {}, {choice(10, "of another user")}}, {2, {}, {choice(12)}}};
  EXPECT_THAT(describe_choices(kHosts, listed, " - "),
              ElementsAre("[2] pid 12 of ada - 2 h - python3 train.py",
                          "[0] pid 10 of ada - 2 h - python3 train.py - stays: of another user"));
}

TEST(KillReport, EscapesAndCutsTextOfHosts) {
  ListedHost listed{0, {}, {choice(10)}};
  listed.choices.front().holder.command = "\x1b[2J" + std::string(100, 'x');
  listed.choices.front().holder.user = "a\rb";
  const std::vector<std::string> lines = describe_choices(kHosts, {listed}, " - ");
  ASSERT_THAT(lines, testing::SizeIs(1));
  EXPECT_EQ(lines.front().size(), 79U);
  for (const char c : lines.front()) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
  EXPECT_TRUE(lines.front().ends_with("xxx..."));
}

TEST(KillReport, CountsTheHostsThatAreFree) {
  const std::vector<ListedHost> before = {{0, {}, {choice(10)}}, {1, {}, {choice(11)}}, {2, {}, {}}};
  std::vector<ListedHost> after = {{0, {}, {}}, {1, {}, {}}, {2, {}, {}}};
  EXPECT_EQ(describe_result(kHosts, before, after, " - "), "freed 2/2 hosts");
  after[1].choices = {choice(11)};
  after[1].choices.front().holder.state = 'D';
  after[0].list.removed_locks = {"/tmp/libtpu_lockfile"};
  EXPECT_EQ(describe_result(kHosts, before, after, " - "),
            "freed 1/2 hosts - busy: [1] pid 11 (D state: reboot needed) - 1 lock file removed");
  EXPECT_EQ(describe_result(kHosts, {after[2]}, {after[2]}, " - "), "no process to stop on 1 host");
  after[1].choices = {choice(12)};
  after[1].choices.front().why_kept = "of another user";
  EXPECT_TRUE(describe_result(kHosts, before, after, " - ")
                  .starts_with("stopped on 2/2 hosts, freed 1 - busy: [1] pid 12"));
}

TEST(KillReport, FoldsBusyProcessesByTheReason) {
  std::vector<ListedHost> after = {{0, {}, {choice(10, "of the job j"), choice(11, "of the job j")}},
                                   {1, {}, {choice(12, "of the job j"), choice(13, "of another user")}}};
  EXPECT_EQ(describe_result(kHosts, {}, after, " - "),
            "busy: [1] pid 13 of another user, [0,1] 3 processes of the job j");
}

TEST(KillReport, NamesTheProcessesThatNeededKill) {
  const std::vector<ListedHost> before = {
      {0, {}, {choice(10)}}, {1, {}, {choice(11)}}, {2, {}, {choice(12)}}};
  std::vector<ListedHost> after = {{0, {}, {}}, {1, {}, {}}, {2, {}, {}}};
  after[1].list.killed = {{11, "python3"}};
  EXPECT_EQ(describe_result(kHosts, before, after, " - "),
            "freed 3/3 hosts - needed KILL: [1] pid 11 (python3)");
  after[1].list.killed = {{11, "python3"}, {99, "sh"}};
  after[2].list.killed = {{12, "python3"}};
  EXPECT_EQ(describe_result(kHosts, before, after, " - "),
            "freed 3/3 hosts - needed KILL: [1,2] 2 processes (python3), [1] pid 99 (sh)");
}

TEST(KillReport, NamesTheProcessesThatItDidNotSeeEnd) {
  const std::vector<ListedHost> before = {
      {0, {}, {choice(10)}}, {1, {}, {choice(11), choice(12, "of another user")}}, {2, {}, {}}};
  EXPECT_EQ(describe_result(kHosts, before, {{0, {}, {}}}, " - "),
            "freed 1/2 hosts - not seen to end: [1] pid 11 (python3)");
}

TEST(KillReport, DoesNotCallAServiceBusy) {
  ListedHost listed{0, {}, {choice(10, "a service of this host")}};
  listed.choices.front().is_service = true;
  EXPECT_FALSE(is_busy(listed));
  EXPECT_FALSE(listed.has_victims());
}

TEST(KillReport, LimitsTheListOfBusyProcesses) {
  ListedHost after{0, {}, {}};
  for (char name = 'a'; name <= 't'; ++name)
    after.choices.push_back(choice(1, fmt::format("of the job {}", name)));
  const std::string text = describe_result(kHosts, {}, {after}, " - ");
  EXPECT_TRUE(text.starts_with("busy: [0] pid 1 of the job a, ")) << text;
  EXPECT_TRUE(text.ends_with(", and 12 more")) << text;
}

}  // namespace
}  // namespace podrun::kill
