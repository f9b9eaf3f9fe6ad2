// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/cell_width.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace podrun::output {
namespace {

TEST(CellWidth, IsThatOfATerminal) {
  EXPECT_EQ(cell_width(""), 0);
  EXPECT_EQ(cell_width("28 running"), 10);
  EXPECT_EQ(cell_width("größe · …"), 9);
  EXPECT_EQ(cell_width("██▌  |"), 6);
  EXPECT_EQ(cell_width("学習中"), 6);
  EXPECT_EQ(cell_width("한글"), 4);
  EXPECT_EQ(cell_width("ＡＢ"), 4) << "fullwidth";
  EXPECT_EQ(cell_width("🚀"), 2);
  EXPECT_EQ(cell_width("e\u0301a\u0308"), 2) << "combining marks";
  EXPECT_EQ(cell_width("a\u200b\ufeff"), 1) << "of no width";
}

TEST(CellWidth, IsTheLargerOneWhereTerminalsDiffer) {
  EXPECT_EQ(cell_width("✓"), 2);
  EXPECT_EQ(cell_width("⚠\ufe0f"), 3) << "an emoji by its variation selector";
  EXPECT_EQ(cell_width("👩\u200d🔬"), 4) << "joined";
}

TEST(CellWidth, TakesBytesThatAreNoUtf8AsOneCellEach) {
  EXPECT_EQ(cell_width("\xff\xfe"), 2);
  EXPECT_EQ(cell_width("\xe5\xad"), 2) << "cut off";
  EXPECT_EQ(cell_width("\xe5x\xad"), 3);
}

TEST(CutToCells, NeverSplitsACharacter) {
  const std::string_view text = "a学e\u0301🚀b";
  EXPECT_EQ(cut_to_cells(text, 0), "");
  EXPECT_EQ(cut_to_cells(text, 1), "a");
  EXPECT_EQ(cut_to_cells(text, 2), "a") << "half of a character is none";
  EXPECT_EQ(cut_to_cells(text, 3), "a学");
  EXPECT_EQ(cut_to_cells(text, 4), "a学e\u0301") << "with its mark";
  EXPECT_EQ(cut_to_cells(text, 5), "a学e\u0301");
  EXPECT_EQ(cut_to_cells(text, 6), "a学e\u0301🚀");
  EXPECT_EQ(cut_to_cells(text, 7), text);
  EXPECT_EQ(cut_to_cells(text, 1000), text);
}

TEST(CutToCells, IsAsWideAsCanBe) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += i % 3 == 0 ? "学" : i % 3 == 1 ? "x" : "é";
  for (std::size_t cells = 0; cells < 80; ++cells) {
    const std::size_t width = cell_width(cut_to_cells(text, cells));
    EXPECT_LE(width, cells);
    if (width < cell_width(text)) {
      EXPECT_GE(width + 1, cells);
    }
  }
}

}  // namespace
}  // namespace podrun::output
