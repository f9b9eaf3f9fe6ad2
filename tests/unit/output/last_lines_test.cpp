// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/last_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace podrun::output {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LastLines, KeepsTheLastTen) {
  LastLines last(2);
  for (int i = 1; i <= 25; ++i) {
    const std::string text = std::to_string(i);
    last.line({1, StreamId::out, text});
  }
  EXPECT_THAT(last.of(1), ElementsAre("16", "17", "18", "19", "20", "21", "22", "23", "24", "25"));
  EXPECT_THAT(last.of(0), IsEmpty());
}

TEST(LastLines, PrefersStandardError) {
  LastLines last(1);
  last.line({0, StreamId::err, "error"});
  last.line({0, StreamId::out, "step 1"});
  EXPECT_THAT(last.of(0), ElementsAre("error"));
}

TEST(LastLines, KeepsOfALineWhatALineHolds) {
  LastLines last(1);
  last.line({0, StreamId::out, "10%\r100%\r"});
  last.line({0, StreamId::out, std::string(1000, 'x')});
  EXPECT_THAT(last.of(0), ElementsAre("100%", std::string(400, 'x')));
}

TEST(LastLines, KnowsWhatIsStillToBeSeen) {
  LastLines last(2);
  EXPECT_TRUE(last.are_among_last(0, 16)) << "there are none";
  last.line({0, StreamId::out, "a"});
  for (int i = 0; i < 15; ++i) last.line({1, StreamId::out, "b"});
  EXPECT_TRUE(last.are_among_last(0, 16));
  last.line({1, StreamId::out, "b"});
  EXPECT_FALSE(last.are_among_last(0, 16));
  EXPECT_TRUE(last.are_among_last(1, 16));
}

TEST(LastLines, KnowsHowLongAHostWasSilent) {
  using namespace std::chrono_literals;
  LastLines last(4);
  const Sink::TimePoint begin{1h};
  last.tick(begin);
  for (const std::size_t host : {0U, 1U, 2U}) last.line({host, StreamId::out, "step 1"});
  last.tick(begin + 2s);
  last.host_ended(0);
  last.tick(begin + 5s);
  last.line({1, StreamId::err, "step 2"});
  last.tick(begin + 6s);
  last.stop_clock();
  last.tick(begin + 6s);
  last.line({1, StreamId::err, "KeyboardInterrupt"});
  last.line({3, StreamId::err, "KeyboardInterrupt"});
  last.tick(begin + 8s);
  for (const std::size_t host : {1U, 2U, 3U}) last.host_ended(host);
  EXPECT_EQ(last.silence(0), 2s);
  EXPECT_EQ(last.silence(1), 1s);
  EXPECT_EQ(last.silence(2), 6s);
  EXPECT_EQ(last.silence(3), std::nullopt);
}

}  // namespace
}  // namespace podrun::output
