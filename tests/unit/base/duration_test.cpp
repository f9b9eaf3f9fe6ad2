// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/duration.hpp"

#include <gtest/gtest.h>

#include "podrun/base/error.hpp"

namespace podrun {
namespace {

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
