// SPDX-License-Identifier: Apache-2.0
#include "podrun/report/silence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace podrun::report {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Silence, IsOfThoseThatStoppedLongBeforeTheOthers) {
  EXPECT_THAT(silent_ones({1s, 40s, 2s, 10s}), ElementsAre(1, 3));
  EXPECT_THAT(silent_ones({0s, 4900ms, 0s}), IsEmpty()) << "not for long";
  EXPECT_THAT(silent_ones({60s, 100s, 70s}), IsEmpty()) << "the others too";
}

TEST(Silence, IsOfThoseThatPrintedNothingWhileOthersDid) {
  EXPECT_THAT(silent_ones({1s, std::nullopt, 1s}), ElementsAre(1));
  EXPECT_THAT(silent_ones({std::nullopt, std::nullopt}), IsEmpty());
  EXPECT_THAT(silent_ones({}), IsEmpty());
}

}  // namespace
}  // namespace podrun::report
