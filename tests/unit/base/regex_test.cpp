// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/regex.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "podrun/base/error.hpp"

namespace podrun {
namespace {

std::string found(const Regex& pattern, std::string_view text, std::size_t from = 0) {
  const auto match = pattern.find(text, from);
  return match ? std::string(text.substr(match->begin, match->end - match->begin)) : "none";
}

TEST(Regex, FindsTheFirstMatch) {
  const Regex pattern("loss [0-9.]+");
  EXPECT_EQ(found(pattern, "step 7 loss 2.31, loss 3"), "loss 2.31");
  EXPECT_EQ(found(pattern, "step 7 loss 2.31, loss 3", 10), "loss 3");
  EXPECT_EQ(found(pattern, "step 7"), "none");
}

TEST(Regex, MatchesOnlyTheBeginOfTheText) {
  const Regex pattern("^a");
  EXPECT_EQ(found(pattern, "aa"), "a");
  EXPECT_EQ(found(pattern, "aa", 1), "none");
}

TEST(Regex, TakesNulForAnOrdinaryByte) {
  EXPECT_EQ(found(Regex("[0-9]+"), std::string_view("\0x12\0", 5)), "12");
}

TEST(Regex, StaysWithinTheText) {
  const std::string text = "abcdef";
  EXPECT_EQ(found(Regex("def"), std::string_view(text).substr(0, 4)), "none");
  EXPECT_EQ(found(Regex("d$"), std::string_view(text).substr(0, 4)), "d");
}

TEST(Regex, RefusesWhatIsNoPattern) {
  for (const char* const wrong : {"(", "[", "x*", "", "\\d+"})
    EXPECT_THROW(Regex{wrong}, UsageError) << wrong;
  EXPECT_THROW(Regex(std::string("a\0b", 3)), UsageError);
}

}  // namespace
}  // namespace podrun
