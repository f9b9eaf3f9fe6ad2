// SPDX-License-Identifier: Apache-2.0
#include "cli/option_values.hpp"

#include <cstdlib>
#include <ctime>
#include <optional>

#include <gtest/gtest.h>

namespace podrun::cli {
namespace {

using namespace std::chrono_literals;

/// Every day in Berlin's time zone.
class ParseAgo : public testing::Test {
 protected:
  ParseAgo() { set_zone("CET-1CEST,M3.5.0,M10.5.0/3"); }
  ~ParseAgo() override { set_zone(before_ ? before_->c_str() : nullptr); }

  static void set_zone(const char* zone) {
    zone != nullptr ? ::setenv("TZ", zone, 1) : ::unsetenv("TZ");
    ::tzset();
  }
  static std::time_t at(int year, int month, int day, int hour, int minute) {
    std::tm local{};
    local.tm_year = year - 1900;
    local.tm_mon = month - 1;
    local.tm_mday = day;
    local.tm_hour = hour;
    local.tm_min = minute;
    local.tm_isdst = -1;
    return std::mktime(&local);
  }

  const char* const zone_ = std::getenv("TZ");
  const std::optional<std::string> before_ = zone_ ? std::optional<std::string>(zone_) : std::nullopt;
};

TEST_F(ParseAgo, ReadsADuration) {
  EXPECT_EQ(parse_ago("10m", 0), 10min);
  EXPECT_EQ(parse_ago("90", 0), 90s);
}

TEST_F(ParseAgo, ReadsATimeOfTheDayOrOfTheDayBefore) {
  const auto now = at(2026, 11, 28, 14, 5);
  EXPECT_EQ(parse_ago("14:05", now), 0s);
  EXPECT_EQ(parse_ago("14:04:30", now), 30s);
  EXPECT_EQ(parse_ago("0:00", now), 14h + 5min);
  EXPECT_EQ(parse_ago("14:06", now), 24h - 1min);
  EXPECT_EQ(parse_ago("23:59:59", at(2026, 12, 1, 0, 0)), 1s);
}

TEST_F(ParseAgo, KnowsTheDaysWithAnotherNumberOfHours) {
  EXPECT_EQ(parse_ago("1:00", at(2026, 3, 29, 4, 0)), 2h);
  EXPECT_EQ(parse_ago("4:00", at(2026, 3, 29, 3, 30)), 22h + 30min);
  EXPECT_EQ(parse_ago("1:00", at(2026, 10, 25, 4, 0)), 4h);
}

TEST_F(ParseAgo, RefusesAnythingElse) {
  for (const std::string text :
       {"", "14:", ":05", "24:00", "14:60", "14:05:60", "1:2:3:4", "-1:00", "14.05", "noon"}) {
    EXPECT_THROW(parse_ago(text, 0), UsageError) << text;
  }
}

TEST(OptionDefaults, AreShownAsTheirParsersReadThem) {
  for (const auto& [time, text] : {std::pair(500ms, "500ms"), {10'000ms, "10s"}, {120'000ms, "2m"}}) {
    EXPECT_EQ(duration_option(time), text);
    EXPECT_EQ(parse_milliseconds(text), time);
  }
  for (const auto& [bytes, text] : {std::pair(1'000'000'000ULL, "1GB"), {1'500'000ULL, "1500kB"}}) {
    EXPECT_EQ(size_option(bytes), text);
    EXPECT_EQ(parse_size(text), bytes);
  }
}

}  // namespace
}  // namespace podrun::cli
