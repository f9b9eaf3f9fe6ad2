// SPDX-License-Identifier: Apache-2.0
// Lines of a pipe. Editing is tried from outside, on a terminal.
#include "podrun/shell/line_source.hpp"

#include <unistd.h>

#include <array>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

namespace podrun::shell {
namespace {

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
  EXPECT_EQ(lines.read("").text, "one");
  EXPECT_EQ(lines.read("").text, "");
  EXPECT_EQ(lines.read("").text, "two");
  write("ee");
  end();
  EXPECT_EQ(lines.read("").text, "three");
  EXPECT_EQ(lines.read("").kind, ReadLine::Kind::ended);
}

TEST_F(PlainLinesTest, StopsWhileItWaits) {
  PlainLines lines(ends_[0]);
  ReadLine line{ReadLine::Kind::text, {}};
  std::thread reader([&] { line = lines.read(""); });
  lines.interrupt();
  lines.stop();
  reader.join();
  EXPECT_EQ(line.kind, ReadLine::Kind::ended);
}

}  // namespace
}  // namespace podrun::shell
