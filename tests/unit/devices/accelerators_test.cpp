// SPDX-License-Identifier: Apache-2.0
#include "podrun/devices/accelerators.hpp"

#include <gtest/gtest.h>

namespace podrun::devices {
namespace {

TEST(TpuName, FindsTheTpuAmongGooglesDevices) {
  EXPECT_EQ(tpu_name({"0x0042", "0x0063", "0x0063"}), "TPU v5e");
  EXPECT_EQ(tpu_name({"0x005e"}), "TPU v4");
}

TEST(TpuName, IsShortWhereNoDeviceTellsTheKind) {
  EXPECT_EQ(tpu_name({}), "TPU");
  EXPECT_EQ(tpu_name({"0x0042"}), "TPU");
}

}  // namespace
}  // namespace podrun::devices
