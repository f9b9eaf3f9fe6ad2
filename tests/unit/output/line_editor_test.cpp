// SPDX-License-Identifier: Apache-2.0
// The history file of the prompt. Editing is tried from outside, on a terminal.
#include "podrun/output/line_editor.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <thread>

#include <gtest/gtest.h>

#include "support/temp_directory.hpp"

namespace podrun::output {
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

class PlainLinesTest : public testing::Test {
 protected:
  PlainLinesTest() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  ~PlainLinesTest() override {
    ::close(ends_[0]);
    end();
  }

  void write(std::string_view text) {
    ASSERT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void end() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

  std::array<int, 2> ends_{};
};

TEST_F(PlainLinesTest, ReturnsLineAfterLine) {
  PlainLines lines(ends_[0]);
  write("one\n\ntwo\nthr");
  EXPECT_EQ(lines.read(""), "one");
  EXPECT_EQ(lines.read(""), "");
  EXPECT_EQ(lines.read(""), "two");
  write("ee");
  end();
  EXPECT_EQ(lines.read(""), "three");
  EXPECT_EQ(lines.read(""), std::nullopt);
}

TEST_F(PlainLinesTest, StopsWhileItWaits) {
  PlainLines lines(ends_[0]);
  std::optional<std::string> line = "";
  std::thread reader([&] { line = lines.read(""); });
  lines.interrupt();
  lines.stop();
  reader.join();
  EXPECT_EQ(line, std::nullopt);
}

}  // namespace
}  // namespace podrun::output
