// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/expect.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace podrun {
namespace {

// Tests are built with PODRUN_DEV.

TEST(Expect, ThrowsWhereAPromiseIsBroken) {
  EXPECT_NO_THROW(expect(true, "kept"));
  EXPECT_THROW(expect(false, "broken"), std::logic_error);
}

TEST(Expect, AllowsOneCall) {
  Once once;
  EXPECT_NO_THROW(once.call("once"));
  EXPECT_THROW(once.call("once"), std::logic_error);
}

TEST(Expect, AllowsOneThread) {
  const OneThread own;
  EXPECT_NO_THROW(own.check("own"));
  std::thread([&own] { EXPECT_THROW(own.check("own"), std::logic_error); }).join();
}

}  // namespace
}  // namespace podrun
