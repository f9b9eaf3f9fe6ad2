// SPDX-License-Identifier: Apache-2.0
#include "podrun/hosts/host_file_name.hpp"

#include <gtest/gtest.h>

namespace podrun::hosts {
namespace {

TEST(HostFileName, IsASingleName) {
  EXPECT_EQ(host_file_name({.worker = 3, .name = "tpu-3"}), "3-tpu-3");
  EXPECT_EQ(host_file_name({.worker = 12, .name = "2001:db8::1"}), "12-2001:db8::1");
  EXPECT_EQ(host_file_name({.worker = 0, .name = "../a/b"}), "0-.._a_b");
}

}  // namespace
}  // namespace podrun::hosts
