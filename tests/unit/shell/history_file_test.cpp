// SPDX-License-Identifier: Apache-2.0
#include "podrun/shell/history_file.hpp"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "support/temp_directory.hpp"

namespace podrun::shell {
namespace {

unsigned mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 0777U;
}

TEST(History, IsForTheUserAlone) {
  const test::TempDirectory directory;
  const std::string file = directory.path("state/podrun/history");
  add_to_history(file, "one");
  add_to_history(file, "two");
  EXPECT_EQ(mode_of(file), 0600U);
  EXPECT_EQ(mode_of(directory.path("state/podrun")), 0700U);
  EXPECT_EQ(read_history(file), "one\ntwo\n");
}

TEST(History, IsTakenFromOthersWhoMayReadIt) {
  const test::TempDirectory directory;
  const std::string file = directory.write("history", "one\n");
  ::chmod(file.c_str(), 0644);
  EXPECT_EQ(read_history(file), "one\n");
  EXPECT_EQ(mode_of(file), 0600U);
}

TEST(History, KeepsTheLastLines) {
  const test::TempDirectory directory;
  std::string text;
  for (int i = 1; i <= 2001; ++i) text += std::to_string(i) + "\n";
  const std::string file = directory.write("history", text);
  EXPECT_EQ(read_history(file), text.substr(2)) << "all but the first of 2001";
  EXPECT_EQ(directory.read("history"), text.substr(2));
  EXPECT_EQ(mode_of(file), 0600U);
}

TEST(History, KeepsTheEndOfALongFile) {
  const test::TempDirectory directory;
  const std::string line(10'000, 'x');
  std::string text;
  for (int i = 0; i < 1000; ++i) text += line + std::to_string(i) + "\n";
  const std::string file = directory.write("history", text);
  const std::string kept = read_history(file);
  EXPECT_GT(kept.size(), 4'000'000U);
  EXPECT_TRUE(text.ends_with("\n" + kept));
  EXPECT_EQ(directory.read("history"), kept);
}

TEST(History, NeedsNoFile) { EXPECT_EQ(read_history("/nowhere/history"), ""); }

}  // namespace
}  // namespace podrun::shell
