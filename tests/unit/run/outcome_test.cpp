// SPDX-License-Identifier: Apache-2.0
#include "podrun/run/outcome.hpp"

#include <csignal>

#include <gtest/gtest.h>

namespace podrun::run {
namespace {

using namespace std::chrono_literals;

int status_of(const std::vector<HostOutcome>& outcomes) { return exit_status(outcomes, std::nullopt); }

TEST(Outcome, HasTheNumberOfTheManual) {
  EXPECT_EQ(host_number(link::Exited{0}), 0);
  EXPECT_EQ(host_number(link::Exited{255}), 255);
  EXPECT_EQ(host_number(TimedOut{5s}), 124);
  EXPECT_EQ(host_number(link::Signaled{SIGTERM}), 143);
  EXPECT_EQ(host_number(Lost{{link::Stage::running, link::Cause::other, "gone"}}), 255);
  EXPECT_EQ(host_number(Unreachable{{link::Stage::connecting, link::Cause::refused}}), 255);
  EXPECT_EQ(host_number(NotStarted{}), std::nullopt);
  EXPECT_EQ(host_number(Stopped{}), std::nullopt);
}

TEST(Outcome, IsAFailureWhenTheHostItselfFailed) {
  EXPECT_TRUE(is_failure(link::Exited{1}));
  EXPECT_TRUE(is_failure(link::Signaled{SIGKILL}));
  EXPECT_TRUE(is_failure(TimedOut{5s}));
  EXPECT_TRUE(is_failure(Lost{}));
  EXPECT_TRUE(is_failure(Unreachable{}));
  EXPECT_FALSE(is_failure(link::Exited{0}));
  EXPECT_FALSE(is_failure(NotStarted{}));
  EXPECT_FALSE(is_failure(Stopped{}));
}

TEST(ExitStatus, IsTheLargestOfTheHosts) {
  EXPECT_EQ(status_of({}), 0);
  EXPECT_EQ(status_of({link::Exited{0}, link::Exited{0}}), 0);
  EXPECT_EQ(status_of({link::Exited{3}, link::Exited{0}, link::Exited{7}}), 7);
  EXPECT_EQ(status_of({TimedOut{5s}, link::Exited{3}}), 124);
  EXPECT_EQ(status_of({TimedOut{5s}, link::Exited{125}}), 125);
  EXPECT_EQ(status_of({link::Signaled{SIGKILL}, TimedOut{5s}}), 137);
  EXPECT_EQ(status_of({link::Exited{1}, Lost{}, link::Signaled{SIGKILL}}), 255);
  EXPECT_EQ(status_of({Unreachable{}, link::Exited{0}}), 255);
}

TEST(ExitStatus, DoesNotCountHostsThatPodrunItselfEnded) {
  EXPECT_EQ(status_of({link::Exited{2}, Stopped{}, NotStarted{}}), 2);
}

TEST(ExitStatus, IsTheSignalsWhenInterrupted) {
  EXPECT_EQ(exit_status({link::Exited{0}}, SIGINT), 130);
  EXPECT_EQ(exit_status({Lost{}, link::Exited{200}}, SIGTERM), 143);
  EXPECT_EQ(exit_status({Stopped{}}, SIGHUP), 129);
  EXPECT_EQ(exit_status({}, SIGPIPE), 141);
}

}  // namespace
}  // namespace podrun::run
