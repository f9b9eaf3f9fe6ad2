// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/transport/channel_replies.hpp"

#include <csignal>

#include <climits>
#include <gtest/gtest.h>

namespace podrun::ssh {
namespace {

TEST(ExitStatusOfAServer, IsKeptWhereAProcessCanHaveIt) {
  for (const int status : {0, 1, 127, 254, 255}) EXPECT_EQ(exited_with(status).status, status);
}

TEST(ExitStatusOfAServer, IsAFailureOtherwise) {
  for (const int status : {256, 512, INT_MAX, -1, INT_MIN}) EXPECT_EQ(exited_with(status).status, 255);
}

TEST(SignalOfAServer, IsKillWhereItsNameIsUnknown) {
  EXPECT_EQ(signaled_by("TERM").signal, SIGTERM);
  EXPECT_EQ(signaled_by("NONE").signal, SIGKILL);
}

TEST(ForwardRefused, KnowsWhetherTheJumpHostOrTheConnectionIsTheReason) {
  const link::Failure prohibited =
      forward_refused("Channel opening failure: channel 43 error (1) administratively prohibited", 43);
  EXPECT_EQ(prohibited.cause, link::Cause::forwarding_refused);
  EXPECT_EQ(prohibited.retry, link::Retry::no);
  const link::Failure failed =
      forward_refused("Channel opening failure: channel 43 error (2) Connection refused", 43);
  EXPECT_EQ(failed.cause, link::Cause::not_forwarded);
  EXPECT_EQ(failed.detail, "connection refused");
  EXPECT_EQ(failed.retry, link::Retry::may_help);
}

TEST(ForwardRefused, TakesNoReasonFromTheTextOfAnotherChannel) {
  const link::Failure failed =
      forward_refused("Channel opening failure: channel 44 error (2) Connection refused", 43);
  EXPECT_EQ(failed.cause, link::Cause::not_forwarded);
  EXPECT_EQ(failed.detail, "");
}

}  // namespace
}  // namespace podrun::ssh
