// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/spool.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/temp_directory.hpp"

namespace podrun::output {
namespace {

using test::TempDirectory;

std::string content(Spool& spool, std::size_t stream) {
  std::string all;
  EXPECT_TRUE(spool.read(stream, [&](std::string_view block) {
    EXPECT_LE(block.size(), Spool::kBlock);
    all += block;
    return true;
  }));
  return all;
}

TEST(Spool, NeedsNoFileForWhatFitsIntoMemory) {
  Spool spool(2, {8, "/nonexistent"});
  EXPECT_TRUE(spool.append(0, "abcd"));
  EXPECT_TRUE(spool.append(1, "efgh"));
  EXPECT_EQ(content(spool, 0), "abcd");
  EXPECT_EQ(content(spool, 1), "efgh");
  EXPECT_EQ(spool.error(), nullptr);
}

TEST(Spool, KeepsEveryStreamApartInAFileWithoutAName) {
  const TempDirectory directory;
  constexpr std::size_t kStreams = 5;
  Spool spool(kStreams, {64 * 1024, directory.path()});
  std::array<std::string, kStreams> expected;
  std::mt19937 random(1);  // NOLINT: the same run each time
  for (int i = 0; i < 2000; ++i) {
    const std::size_t stream = random() % kStreams;
    const std::string bytes(random() % 4000, static_cast<char>(random()));
    EXPECT_TRUE(spool.append(stream, bytes));
    expected[stream] += bytes;
  }
  EXPECT_TRUE(directory.empty());
  for (std::size_t stream = 0; stream < kStreams; ++stream) {
    EXPECT_GT(expected[stream].size(), 2 * Spool::kBlock);
    EXPECT_TRUE(content(spool, stream) == expected[stream]);
  }
}

TEST(Spool, TakesMoreAtOnceThanItsMemory) {
  const TempDirectory directory;
  Spool spool(1, {4, directory.path()});
  EXPECT_TRUE(spool.append(0, "0123456789"));
  EXPECT_TRUE(spool.append(0, "ab"));
  EXPECT_EQ(content(spool, 0), "0123456789ab");
}

TEST(Spool, StopsReadingWhenNoMoreIsWanted) {
  const TempDirectory directory;
  Spool spool(1, {1, directory.path()});
  spool.append(0, std::string(3 * Spool::kBlock, 'x'));
  spool.append(0, std::string(3 * Spool::kBlock, 'y'));
  int blocks = 0;
  EXPECT_TRUE(spool.read(0, [&](std::string_view) { return ++blocks < 2; }));
  EXPECT_EQ(blocks, 2);
}

TEST(Spool, KeepsWhatItTookBeforeAnErrorAndDropsTheRest) {
  Spool spool(2, {4, "/nonexistent"});
  EXPECT_TRUE(spool.append(0, "abc"));
  EXPECT_FALSE(spool.append(1, "de"));
  EXPECT_FALSE(spool.append(0, "f"));
  ASSERT_NE(spool.error(), nullptr);
  EXPECT_EQ(*spool.error(), "a temporary file in /nonexistent: No such file or directory");
  EXPECT_EQ(content(spool, 0), "abc");
  EXPECT_EQ(content(spool, 1), "");
}

}  // namespace
}  // namespace podrun::output
