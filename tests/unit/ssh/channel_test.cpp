// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/transport/channel.hpp"

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

}  // namespace
}  // namespace podrun::ssh
