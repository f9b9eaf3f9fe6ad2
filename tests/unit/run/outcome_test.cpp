// SPDX-License-Identifier: Apache-2.0
#include "podrun/run/outcome.hpp"

#include <csignal>

#include <gtest/gtest.h>

namespace podrun {
namespace {

using namespace std::chrono_literals;

int status_of(const std::vector<HostOutcome>& outcomes) { return exit_status(outcomes, std::nullopt); }

TEST(Outcome, HasTheNumberOfTheManual) {
  EXPECT_EQ(host_number(Exited{0}), 0);
  EXPECT_EQ(host_number(Exited{255}), 255);
  EXPECT_EQ(host_number(TimedOut{5s}), 124);
  EXPECT_EQ(host_number(Signaled{SIGTERM}), 143);
  EXPECT_EQ(host_number(Lost{{"running", "gone"}}), 255);
  EXPECT_EQ(host_number(Unreachable{{"connecting", "refused"}}), 255);
  EXPECT_EQ(host_number(NotStarted{}), std::nullopt);
  EXPECT_EQ(host_number(Stopped{}), std::nullopt);
}

TEST(Outcome, IsAFailureWhenTheHostItselfFailed) {
  EXPECT_TRUE(is_failure(Exited{1}));
  EXPECT_TRUE(is_failure(Signaled{SIGKILL}));
  EXPECT_TRUE(is_failure(TimedOut{5s}));
  EXPECT_TRUE(is_failure(Lost{}));
  EXPECT_TRUE(is_failure(Unreachable{}));
  EXPECT_FALSE(is_failure(Exited{0}));
  EXPECT_FALSE(is_failure(NotStarted{}));
  EXPECT_FALSE(is_failure(Stopped{}));
}

TEST(ExitStatus, IsTheLargestOfTheHosts) {
  EXPECT_EQ(status_of({}), 0);
  EXPECT_EQ(status_of({Exited{0}, Exited{0}}), 0);
  EXPECT_EQ(status_of({Exited{3}, Exited{0}, Exited{7}}), 7);
  EXPECT_EQ(status_of({TimedOut{5s}, Exited{3}}), 124);
  EXPECT_EQ(status_of({TimedOut{5s}, Exited{125}}), 125);
  EXPECT_EQ(status_of({Signaled{SIGKILL}, TimedOut{5s}}), 137);
  EXPECT_EQ(status_of({Exited{1}, Lost{}, Signaled{SIGKILL}}), 255);
  EXPECT_EQ(status_of({Unreachable{}, Exited{0}}), 255);
}

TEST(ExitStatus, DoesNotCountHostsThatPodrunItselfEnded) {
  EXPECT_EQ(status_of({Exited{2}, Stopped{}, NotStarted{}}), 2);
}

TEST(ExitStatus, IsTheSignalsWhenInterrupted) {
  EXPECT_EQ(exit_status({Exited{0}}, SIGINT), 130);
  EXPECT_EQ(exit_status({Lost{}, Exited{200}}, SIGTERM), 143);
  EXPECT_EQ(exit_status({Stopped{}}, SIGHUP), 129);
  EXPECT_EQ(exit_status({}, SIGPIPE), 141);
}

}  // namespace
}  // namespace podrun
