// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/secret.hpp"

#include <sys/prctl.h>

#include <cstdlib>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace podrun {
namespace {

TEST(Secret, LeavesNothingWhereItsTextWas) {
  for (const std::string& password : {std::string("short"), std::string(40, 'x')}) {
    std::string typed = password;
    Secret secret(std::move(typed));
    EXPECT_EQ(typed, std::string(typed.size(), '\0'));
    const Secret moved = std::move(secret);
    EXPECT_EQ(moved.text(), password);
  }
}

TEST(HideMemory, ForbidsCoreFilesAndDebuggers) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // other tests have left threads, which hold locks
  EXPECT_EXIT(
      {
        hide_memory();
        std::exit(::prctl(PR_GET_DUMPABLE) == 0 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace podrun
