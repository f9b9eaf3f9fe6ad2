// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/screen_painter.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace podrun::output {
namespace {

constexpr ScreenSize kSize = {.columns = 20, .rows = 4};

std::string at(std::size_t row, const std::string& text) {
  return "\x1b[" + std::to_string(row) + "H\x1b[K" + text + "\x1b[0m";
}
std::string nothing_from(std::size_t row) { return "\x1b[" + std::to_string(row) + "H\x1b[J"; }
std::string frame(const std::string& bytes) { return "\x1b[?2026h\x1b[0m" + bytes + "\x1b[?2026l"; }

TEST(ScreenPainter, PaintsTheWholeScreenFirst) {
  ScreenPainter painter;
  EXPECT_EQ(painter.paint({"one", "", "three"}, kSize),
            frame(at(1, "one") + at(2, "") + at(3, "three") + nothing_from(4)));
  EXPECT_EQ(painter.paint({"one", "", "three"}, kSize), "");
}

TEST(ScreenPainter, PaintsOnlyLinesThatDiffer) {
  ScreenPainter painter;
  painter.paint({"one", "two", "three", "four"}, kSize);
  EXPECT_EQ(painter.paint({"one", "2", "three", "4"}, kSize), frame(at(2, "2") + at(4, "4")));
  EXPECT_EQ(painter.paint({"one", "2"}, kSize), frame(nothing_from(3)));
  EXPECT_EQ(painter.paint({"one", "2", "", "4"}, kSize), frame(at(3, "") + at(4, "4")));
  EXPECT_EQ(painter.paint({}, kSize), frame(nothing_from(1)));
  EXPECT_EQ(painter.paint({}, kSize), "");
}

TEST(ScreenPainter, WritesNothingAfterALineOfFullWidth) {
  ScreenPainter painter;
  const std::string wide = "\x1b[31m世界世界世界世界世界\x1b[0m";  // 20 cells
  EXPECT_EQ(painter.paint({wide, wide, wide, wide}, kSize),
            frame(at(1, wide) + at(2, wide) + at(3, wide) + at(4, wide)));
  EXPECT_EQ(painter.paint({wide, "界", wide, wide}, kSize), frame(at(2, "界")));
}

TEST(ScreenPainter, PaintsTheWholeScreenAfterAChangeOfSize) {
  ScreenPainter painter;
  const std::vector<std::string> lines = {"one", "two", "three", "four"};
  painter.paint(lines, kSize);
  EXPECT_EQ(painter.paint(lines, {20, 2}), frame(at(1, "one") + at(2, "two")));
  EXPECT_EQ(painter.paint(lines, {19, 2}), frame(at(1, "one") + at(2, "two")));
  EXPECT_EQ(painter.paint({"one"}, {19, 3}), frame(at(1, "one") + nothing_from(2)));
}

TEST(ScreenPainter, PaintsTheWholeScreenAgainWhenItIsToForget) {
  ScreenPainter painter;
  painter.paint({"one"}, kSize);
  painter.forget();
  EXPECT_EQ(painter.paint({"one"}, kSize), frame(at(1, "one") + nothing_from(2)));
}

TEST(ScreenPainter, PaintsASingleCell) {
  ScreenPainter painter;
  EXPECT_EQ(painter.paint({"a", "b"}, {1, 1}), frame(at(1, "a")));
  EXPECT_EQ(painter.paint({"c", "d"}, {1, 1}), frame(at(1, "c")));
  EXPECT_EQ(painter.paint({}, {1, 1}), frame(nothing_from(1)));
}

TEST(ScreenPainter, PaintsNothingWhereThereIsNoScreen) {
  for (const ScreenSize none : {ScreenSize{0, 0}, ScreenSize{0, 4}, ScreenSize{20, 0}}) {
    ScreenPainter painter;
    EXPECT_EQ(painter.paint({"one"}, none), "");
    EXPECT_EQ(painter.paint({"one"}, kSize), frame(at(1, "one") + nothing_from(2)));
    EXPECT_EQ(painter.paint({"one"}, none), "");
    EXPECT_EQ(painter.paint({"one"}, kSize), frame(at(1, "one") + nothing_from(2)));
  }
}

}  // namespace
}  // namespace podrun::output
