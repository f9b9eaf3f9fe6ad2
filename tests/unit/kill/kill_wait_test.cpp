// SPDX-License-Identifier: Apache-2.0
#include "podrun/kill/kill_wait.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace podrun::kill {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using State = run::RunPolicy::State;

const std::vector<hosts::Host> kWaiting = {
    {.worker = 0, .name = "a"}, {.worker = 1, .name = "b"}, {.worker = 13, .name = "c"}};
const run::TimePoint kStart{std::chrono::hours(1)};

Choice victim(std::uint64_t pid, std::string name = "python3",
              std::vector<std::string> devices = {"/dev/accel0"}) {
  return {.holder = {.pid = pid, .name = std::move(name), .devices = std::move(devices)}};
}

class KillWaitTest : public testing::Test {
 protected:
  KillWaitTest() {
    for (std::size_t i = 0; i < kWaiting.size(); ++i) {
      listed_.push_back({i, {}, {victim(2030 + i)}});
      status_.hosts.push_back(
          {.host = &kWaiting[i], .state = State::running, .since = kStart, .tried_since = kStart});
    }
  }

  std::optional<report::OwnWords> words(std::chrono::seconds after = 9s) {
    return describe_wait(listed_, 30s, status_, kStart + after, " - ");
  }
  std::string line(std::chrono::seconds after = 9s) {
    const output::StatusText text = words(after).value().line;
    std::string all;
    for (const output::StatusPart& part : text) all += (all.empty() ? "" : " - ") + part.text;
    return all;
  }

  std::vector<ListedHost> listed_;
  run::Status status_;
};

TEST_F(KillWaitTest, NamesTheProcessAndTheTimeUntilKill) {
  status_.hosts[0].state = status_.hosts[1].state = State::done;
  EXPECT_EQ(line(), "waiting for pid 2032 (python3) on [13] to close /dev/accel0 - KILL in 21 s");
  EXPECT_THAT(words()->list, ElementsAre("podrun: " + line()));
  EXPECT_EQ(words()->interrupt_line, "podrun: interrupted: no KILL for pid 2032 (python3) on [13]");
  EXPECT_EQ(line(31s), "waiting for pid 2032 (python3) on [13] to close /dev/accel0 - KILL due");
  EXPECT_EQ(words(31s)->interrupt_line, "podrun: interrupted: not waiting for pid 2032 (python3) on [13]");
}

TEST_F(KillWaitTest, FoldsEqualProcesses) {
  EXPECT_EQ(line(), "waiting for 3 processes (python3) on [0,1,13] to close /dev/accel0 - KILL in 21 s");
  listed_[2].choices.front().holder.devices = {"/dev/nvidia0", "/dev/nvidia1"};
  EXPECT_EQ(line(), "waiting for 3 processes on [0,1,13] to close their accelerators - KILL in 21 s");
  EXPECT_THAT(
      words()->list,
      ElementsAre("podrun: waiting for 2 processes (python3) on [0,1] to close /dev/accel0 - KILL in 21 s",
                  "podrun: waiting for pid 2032 (python3) on [13] to close 2 accelerators - KILL in 21 s"));
}

TEST_F(KillWaitTest, DoesNotKnowHowManyOfAHostAreLeft) {
  status_.hosts[0].state = status_.hosts[1].state = State::done;
  listed_[2].choices.push_back(victim(2040));
  listed_[2].choices.push_back({.holder = {.pid = 2050}, .why_kept = "of another user"});
  EXPECT_EQ(line(), "waiting for up to 2 processes (python3) on [13] to close /dev/accel0 - KILL in 21 s");
}

TEST_F(KillWaitTest, HasNoWordsBeforeAllHaveStartedAndWhereNothingIsStopped) {
  status_.hosts[1].state = State::ready;
  EXPECT_FALSE(words());
  status_.hosts[1].state = State::running;
  for (ListedHost& each : listed_) each.choices.front().why_kept = "of another user";
  EXPECT_FALSE(words());
}

TEST_F(KillWaitTest, DoesNotSpeakOfTheEndOfTheScript) {
  for (run::HostStatus& host : status_.hosts) host.state = State::stopping;
  status_.presses = 2;
  EXPECT_TRUE(words().value().line.empty());
  EXPECT_TRUE(words()->list.empty());
  EXPECT_TRUE(words()->interrupt_line.starts_with("podrun: interrupted: no KILL for "))
      << words()->interrupt_line;
}

TEST_F(KillWaitTest, EscapesTextOfHosts) {
  status_.hosts[0].state = status_.hosts[1].state = State::done;
  listed_[2].choices = {victim(7, "a\rb", {"/dev/\x1b"})};
  EXPECT_EQ(line(), "waiting for pid 7 (a\\x0db) on [13] to close /dev/\\x1b - KILL in 21 s");
}

}  // namespace
}  // namespace podrun::kill
