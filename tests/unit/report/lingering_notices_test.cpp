// SPDX-License-Identifier: Apache-2.0
#include "podrun/report/lingering_notices.hpp"

#include <gtest/gtest.h>

namespace podrun::report {
namespace {

using Lines = std::vector<std::string>;

TEST(Lingering, NamesTheProcessesOfOneHost) {
  EXPECT_EQ(
      describe_lingering({{3, {{{"2734", "python3"}}}}}),
      Lines{"podrun: [3] command ended; pid 2734 (python3) still has its output open. Ctrl-C stops it; to "
            "leave it running, redirect its output (> log 2>&1)"});
  EXPECT_EQ(
      describe_lingering({{3, {{{"7", "sh"}, {"8", "\x1b"}}, 2}}}),
      Lines{
          "podrun: [3] command ended; pid 7 (sh), 8 (\\x1b) and 2 more still have their output open. Ctrl-C "
          "stops them; to leave them running, redirect their output (> log 2>&1)"});
}

TEST(Lingering, FoldsHostsThatAreAlike) {
  EXPECT_EQ(
      describe_lingering({{1, {{{"5", "python3"}}}},
                          {0, {{{"2734", "python3"}}}},
                          {7, {{{"100", "sleep"}, {"9", "sh"}}}},
                          {6, {{{"9", "sh"}, {"10", "cat"}}}}}),
      (Lines{"podrun: [0,1] command ended; python3 (pid 2734 on [0]) still has its output open. Ctrl-C stops "
             "it; to leave it running, redirect its output (> log 2>&1)",
             "podrun: [6,7] command ended; sh (pid 9 on [6]) and others still have their output open. Ctrl-C "
             "stops them; to leave them running, redirect their output (> log 2>&1)"}));
}

}  // namespace
}  // namespace podrun::report
