// SPDX-License-Identifier: Apache-2.0
#include "podrun/top/styled_line.hpp"

#include <gtest/gtest.h>

namespace podrun::top {
namespace {

constexpr Display kPlain = {.palette = Palette::none};
constexpr Display kBasic = {.palette = Palette::basic};
constexpr Display kFull = {.palette = Palette::full};

TEST(StyledLine, CutsToItsWidth) {
  StyledLine line(kPlain, 5);
  line.add("abc").add("日本").add("x");
  EXPECT_EQ(line.bytes(), "abc日");
  EXPECT_EQ(line.left(), 0U);
}

TEST(StyledLine, DoesNotGoOnAfterACut) {
  StyledLine line(kPlain, 4);
  line.add("abc").add("日").add("x");
  EXPECT_EQ(line.bytes(), "abc ");
}

TEST(StyledLine, HasColoursOnlyWithAPalette) {
  EXPECT_EQ(StyledLine(kPlain, 9).add("a", Style::fault).bytes(), "a");
  EXPECT_EQ(StyledLine(kBasic, 9).add("a", Style::fault).bytes(), "\x1b[31ma\x1b[0m");
  EXPECT_EQ(StyledLine(kPlain, 9).add_digit('9').bytes(), "9");
  EXPECT_EQ(StyledLine(kBasic, 9).add_digit('0').bytes(), "\x1b[2m0\x1b[0m");
  EXPECT_EQ(StyledLine(kFull, 9).add_digit('9').bytes(), "\x1b[38;5;231m9\x1b[0m");
}

TEST(StyledLine, TheCursorIsReverseWithoutColoursToo) {
  EXPECT_EQ(StyledLine(kPlain, 9).add("a", Style::selected).bytes(), "\x1b[7ma\x1b[0m");
}

TEST(StyledLine, AlignsToTheRight) {
  EXPECT_EQ(StyledLine(kPlain, 9).add("ab").add_right("cd").bytes(), "ab     cd");
  EXPECT_EQ(StyledLine(kPlain, 5).add("ab").add_right("cd").bytes(), "ab cd");
  EXPECT_EQ(StyledLine(kPlain, 4).add("ab").add_right("cd").bytes(), "ab");
  EXPECT_EQ(StyledLine(kPlain, 4).pad_to(2).pad_to(1).add("c").pad_to(9).bytes(), "  c ");
}

TEST(StyledLine, KnowsTerminalsWithoutUtf8) {
  StyledLine line({.charset = output::Charset::ascii}, 9);
  EXPECT_EQ(line.add("64 °C …日").bytes(), "64 C ...?");
}

}  // namespace
}  // namespace podrun::top
