// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "podrun/restarts/stall_watch.hpp"

namespace podrun::restarts {
namespace {

class Progress : public testing::Test {
 protected:
  bool read(std::string_view bytes) { return reader_.read(progress_, bytes); }

  const Regex progress_{"step [0-9]+"};
  ProgressReader reader_;
};

TEST_F(Progress, FindsAMatchWhosePiecesComeOneByOne) {
  EXPECT_FALSE(read("loss 1\nst"));
  EXPECT_FALSE(read("ep "));
  EXPECT_TRUE(read("7"));
}

TEST_F(Progress, TakesALineForProgressOnce) {
  EXPECT_TRUE(read("step 7"));
  EXPECT_FALSE(read(" waiting"));
  EXPECT_FALSE(read("."));
  EXPECT_TRUE(read(" step 8")) << "a bar without line ends";
}

TEST_F(Progress, BeginsAgainAfterEachLineEnd) {
  EXPECT_TRUE(read("step 7\r"));
  EXPECT_TRUE(read("step 7\r"));
  EXPECT_FALSE(read("step\n7\n"));
  EXPECT_TRUE(read("a\nstep 1\nb"));
}

TEST_F(Progress, KeepsTheEndOfALongLine) {
  EXPECT_FALSE(read(std::string(100000, '.') + "st"));
  EXPECT_TRUE(read("ep 7"));
}

}  // namespace
}  // namespace podrun::restarts
