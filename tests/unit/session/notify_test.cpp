// SPDX-License-Identifier: Apache-2.0
#include "podrun/session/notify.hpp"

#include <chrono>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "support/pod.hpp"
#include "support/temp_directory.hpp"

namespace podrun::session {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

nlohmann::json told(const Ended& ended) {
  const std::string text = notification(ended, output::WallTime(std::chrono::seconds(0)));
  EXPECT_EQ(text.back(), '\n');
  return nlohmann::json::parse(text);
}

TEST(Notification, HasTheHostsThatFailed) {
  const nlohmann::json event = told(
      ended(test::pod(3), {.status = 3, .outcomes = {link::Exited{0}, link::Exited{3}, link::Exited{0}}}));
  EXPECT_EQ(event["event"], "failed");
  EXPECT_EQ(event["status"], 3);
  EXPECT_EQ(event["summary"], "exit 3: [1] tpu-1");
  EXPECT_EQ(event["hosts"], 3);
  EXPECT_EQ(event["failed"], nlohmann::json::array({1}));
  EXPECT_FALSE(event.contains("reason"));
  EXPECT_FALSE(event.contains("job"));
}

TEST(Notification, SaysHowItEnded) {
  const std::vector<hosts::Host> hosts = test::pod(2);
  EXPECT_EQ(told({.hosts = hosts})["event"], "done");
  EXPECT_EQ(told({.hosts = hosts, .job = "train"})["summary"], "train: ok on 2 hosts");
  EXPECT_EQ(told({.status = 130, .is_interrupted = true, .hosts = hosts})["event"], "stopped");
  EXPECT_EQ(told({.status = 1, .goes_on = true, .hosts = hosts, .job = "train"})["event"], "running");
  const nlohmann::json given_up = told({.status = 7, .hosts = hosts, .reason = "restarts", .tries = 4});
  EXPECT_EQ(given_up["event"], "given_up");
  EXPECT_EQ(given_up["summary"], "exit 7, after 4 tries");
}

TEST(Notify, GivesTheEventToEachCommandAndTellsFailures) {
  const test::TempDirectory directory;
  const std::string file = directory.path("event");
  std::vector<std::string> said;
  notify({.status = 3, .hosts = test::pod(1), .job = "train"},
         {"cat >'" + file + "'; echo $PODRUN_EVENT $PODRUN_STATUS $PODRUN_JOB >>'" + file + "'",
          "echo no mail >&2; exit 4"},
         [&said](const std::string& line) { said.push_back(line); });
  EXPECT_THAT(said, ElementsAre("--notify: exit 4: no mail"));
  const std::string text = directory.read("event");
  EXPECT_TRUE(text.ends_with("\nfailed 3 train\n")) << text;
}

TEST(Notify, DoesNothingWithoutCommands) {
  std::vector<std::string> said;
  notify({}, {}, [&said](const std::string& line) { said.push_back(line); });
  EXPECT_THAT(said, IsEmpty());
}

}  // namespace
}  // namespace podrun::session
