// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/worker_numbers.hpp"

#include <gtest/gtest.h>

#include "podrun/base/error.hpp"

namespace podrun {
namespace {

TEST(WorkerSet, FoldsRunsOfThreeAndMore) {
  EXPECT_EQ(fold_workers({}), "");
  EXPECT_EQ(fold_workers({7}), "7");
  EXPECT_EQ(fold_workers({0, 1}), "0,1");
  EXPECT_EQ(fold_workers({3, 2, 1, 0, 7, 7}), "0-3,7");
}

TEST(WorkerSet, ReadsWhatItWrites) {
  EXPECT_EQ(parse_workers("0,3-5"), (std::vector<std::size_t>{0, 3, 4, 5}));
  EXPECT_EQ(parse_workers(fold_workers({9, 4, 5, 6})), (std::vector<std::size_t>{4, 5, 6, 9}));
}

TEST(WorkerSet, NamesTheBadPart) {
  for (const char* bad : {"", "1,", ",1", "a", "3-", "-3", "5-3", "1-2-3", "0x1", "99999999999"}) {
    EXPECT_THROW(parse_workers(bad), UsageError) << bad;
  }
}

TEST(WorkerSet, HoldsNoMoreThanThereAreWorkers) {
  EXPECT_EQ(parse_workers("0-999999").size(), 1'000'000U);
  EXPECT_THROW(parse_workers("0-999999,0-999999"), UsageError);
}

}  // namespace
}  // namespace podrun
