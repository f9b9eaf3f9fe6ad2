// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/text.hpp"

#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace podrun {
namespace {

using testing::ElementsAre;

TEST(Split, KeepsEmptyParts) {
  EXPECT_THAT(split("a,b", ','), ElementsAre("a", "b"));
  EXPECT_THAT(split(",a,,", ','), ElementsAre("", "a", "", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}

TEST(Join, PutsTheSeparatorBetweenParts) {
  EXPECT_EQ(join({"a", "", "b"}, ", "), "a, , b");
  EXPECT_EQ(join({}, ","), "");
}

TEST(TakePart, LeavesWhatFollowsTheSeparator) {
  std::string_view text = "a,,b,";
  EXPECT_EQ(take_part(text, ','), "a");
  EXPECT_EQ(take_part(text, ','), "");
  EXPECT_EQ(take_part(text, ','), "b");
  EXPECT_EQ(text, "");
  EXPECT_EQ(take_part(text, ','), "");
}

TEST(TakeWord, IgnoresBlanksBeforeTheWord) {
  std::string_view text = " \tssh-rsa  AAAA";
  EXPECT_EQ(take_word(text), "ssh-rsa");
  EXPECT_EQ(take_word(text), "AAAA");
  EXPECT_EQ(take_word(text), "");
}

TEST(ShortPath, StartsWithATildeBelowTheHomeDirectory) {
  EXPECT_EQ(short_path("/home/me/.config/x", "/home/me"), "~/.config/x");
  EXPECT_EQ(short_path("/home/meme/x", "/home/me"), "/home/meme/x");
}

TEST(ToNumber, TakesOnlyDigits) {
  EXPECT_EQ(to_number("42"), 42U);
  for (const char* text : {"", "-1", "1 ", "0x1", "99999999999999999999"})
    EXPECT_FALSE(to_number(text)) << text;
  EXPECT_EQ(to_port("65535"), 65535);
  for (const char* text : {"0", "65536"}) EXPECT_FALSE(to_port(text)) << text;
}

TEST(LastLine, IsTheLastOneThatIsNotBlank) {
  EXPECT_EQ(last_line(""), "");
  EXPECT_EQ(last_line(" \t\r\n"), "");
  EXPECT_EQ(last_line("one"), "one");
  EXPECT_EQ(last_line("one\n  two \r\n\n"), "  two");
  EXPECT_EQ(last_line("one\rtwo\n"), "two");
}

}  // namespace
}  // namespace podrun
