// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/config/pattern.hpp"

#include <gtest/gtest.h>

namespace podrun::ssh {
namespace {

TEST(PatternList, MatchesWhereOnePatternDoesAndNoNegatedOne) {
  EXPECT_TRUE(matches_pattern_list("tpu-1", "gpu-*,tpu-?"));
  EXPECT_FALSE(matches_pattern_list("tpu-1", "tpu-*,!tpu-1"));
  EXPECT_FALSE(matches_pattern_list("tpu-1", "!tpu-2")) << "nothing but negations matches nothing";
}

TEST(PatternList, HasNoEmptyPatternAtItsEnd) {
  EXPECT_FALSE(matches_pattern_list("", ""));
  EXPECT_FALSE(matches_pattern_list("", "tpu-1,"));
}

}  // namespace
}  // namespace podrun::ssh
