// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/nearest_name.hpp"

#include <gtest/gtest.h>

namespace podrun {
namespace {

const std::vector<std::string_view> kNames = {"hosts", "hostfile", "fanout", "grace", "UserKnownHostsFile"};

TEST(NearestNameTest, FindsWhatWasMeant) {
  EXPECT_EQ(nearest_name("host", kNames), "hosts");
  EXPECT_EQ(nearest_name("hsots", kNames), "hosts");
  EXPECT_EQ(nearest_name("fan-out", kNames), "fanout");
  EXPECT_EQ(nearest_name("GRACE", kNames), "grace");
  EXPECT_EQ(nearest_name("userknownhostfile", kNames), "UserKnownHostsFile");
}

TEST(NearestNameTest, FindsNothingWhereNothingIsNear) {
  EXPECT_EQ(nearest_name("zzz", kNames), std::nullopt);
  EXPECT_EQ(nearest_name("", kNames), std::nullopt);
  EXPECT_EQ(nearest_name("ls", {"ps", "rm"}), std::nullopt);
  EXPECT_EQ(nearest_name("hosts", {}), std::nullopt);
}

}  // namespace
}  // namespace podrun
