// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/escape.hpp"

#include <gtest/gtest.h>

namespace podrun::output {
namespace {

TEST(EscapeControls, LeavesTextAsItIs) {
  EXPECT_EQ(escape_controls(""), "");
  EXPECT_EQ(escape_controls("a b~"), "a b~");
  EXPECT_EQ(escape_controls("grün €  𝄞"), "grün €  𝄞");
}

TEST(EscapeControls, ShowsControlCharacters) {
  EXPECT_EQ(escape_controls("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(escape_controls(std::string_view("a\0b\r\n\t\x7f", 7)), "a\\x00b\\x0d\\x0a\\x09\\x7f");
  EXPECT_EQ(escape_controls("\xc2\x9b"
                            "2J"),
            "\\xc2\\x9b2J")
      << "CSI as one character";
}

TEST(EscapeControls, ShowsWhatTurnsTheWritingDirection) {
  EXPECT_EQ(escape_controls("a\xe2\x80\xae"
                            "b\xe2\x81\xa6"),
            "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6");
  EXPECT_EQ(escape_controls("שלום"), "שלום") << "the writing itself stays";
}

TEST(EscapeControls, ShowsBytesThatAreNoUtf8) {
  EXPECT_EQ(escape_controls("\x9b"
                            "2J"),
            "\\x9b2J");
  EXPECT_EQ(escape_controls("\xe2\x82"), "\\xe2\\x82") << "cut off";
  EXPECT_EQ(escape_controls("\xe2\x82\x1b"), "\\xe2\\x82\\x1b");
  EXPECT_EQ(escape_controls("\xc0\x9b\xff"), "\\xc0\\x9b\\xff") << "overlong";
}

}  // namespace
}  // namespace podrun::output
