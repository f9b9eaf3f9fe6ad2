// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/text.hpp"

#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/base/error.hpp"

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

void expect_first(std::string_view text, std::size_t bytes, char32_t value) {
  const Utf8Character first = first_utf8(text);
  EXPECT_EQ(first.bytes, bytes) << testing::PrintToString(text);
  EXPECT_EQ(first.value, value) << testing::PrintToString(text);
}

TEST(Utf8, ReadsTheFirstCharacter) {
  expect_first("ab", 1, U'a');
  expect_first(std::string_view("\0a", 2), 1, 0);
  expect_first("\xc2\x80", 2, 0x80);
  expect_first("\xdf\xbf", 2, 0x7ff);
  expect_first("\xe0\xa0\x80", 3, 0x800);
  expect_first("\xed\x9f\xbf", 3, 0xd7ff);
  expect_first("\xee\x80\x80", 3, 0xe000);
  expect_first("\xf0\x90\x80\x80z", 4, 0x10000);
  expect_first("\xf4\x8f\xbf\xbf", 4, 0x10ffff);
}

TEST(Utf8, KnowsWhatIsNone) {
  for (const std::string_view text : {
           "\x80", "\xbf", "\xff", "\xc0\x80", "\xc1\xbf",  // no lead, or longer than needed
           "\xe0\x82\x9b", "\xf0\x8f\xbf\xbf",              // longer than needed
           "\xed\xa0\x80", "\xed\xbf\xbf",                  // surrogates
           "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",          // beyond the last
           "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xc3(", "\xe2(\xac", "\xf0\x9f\x98 ",  // cut short
       }) {
    expect_first(text, 0, 0);
  }
}

const std::vector<std::string_view> kNames = {"hosts", "hostfile", "fanout", "grace", "UserKnownHostsFile"};

TEST(NearestNameTest, FindsWhatWasMeant) {
  EXPECT_EQ(nearest_name("host", kNames), "hosts");
  EXPECT_EQ(nearest_name("hsots", kNames), "hosts");
  EXPECT_EQ(nearest_name("fan-out", kNames), "fanout");
  EXPECT_EQ(nearest_name("GRACE", kNames), "grace");
  EXPECT_EQ(nearest_name("userknownhostfile", kNames), "UserKnownHostsFile");
}

TEST(NearestNameTest, FindsNothingWhereNothingIsNear) {
  EXPECT_EQ(nearest_name("zzz", kNames), std::nullopt);
  EXPECT_EQ(nearest_name("", kNames), std::nullopt);
  EXPECT_EQ(nearest_name("ls", {"ps", "rm"}), std::nullopt);
  EXPECT_EQ(nearest_name("hosts", {}), std::nullopt);
}

using namespace std::chrono_literals;

TEST(Duration, ReadsNumbersWithAndWithoutUnit) {
  EXPECT_EQ(parse_duration("10"), 10s);
  EXPECT_EQ(parse_duration("10s"), 10s);
  EXPECT_EQ(parse_duration("5m"), 5min);
  EXPECT_EQ(parse_duration("2h"), 2h);
  EXPECT_EQ(parse_duration("1d"), 24h);
  EXPECT_EQ(parse_duration("0"), 0s);
}

TEST(Duration, NamesWhatItCannotRead) {
  for (const char* bad :
       {"", "s", "-1", "-0", "1.5", "10 s", "10x", "5ms", "99999999999999999999", "9223372036854775807h"}) {
    EXPECT_THROW(parse_duration(bad), UsageError) << bad;
  }
  try {
    parse_duration("10x");
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "bad duration \"10x\" (expected a whole number such as 10, 10s, 5m or 2h)");
  }
}

TEST(Duration, IsShownInTheLargestUnitThatDivides) {
  EXPECT_EQ(format_duration(0s), "0 s");
  EXPECT_EQ(format_duration(90s), "90 s");
  EXPECT_EQ(format_duration(120s), "2 min");
  EXPECT_EQ(format_duration(2h), "2 h");
}

}  // namespace
}  // namespace podrun
