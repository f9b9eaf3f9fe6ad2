// SPDX-License-Identifier: Apache-2.0
#include "podrun/jobs/log_times.hpp"

#include <gtest/gtest.h>

namespace podrun::jobs {
namespace {

using namespace std::chrono_literals;

class LogTimesTest : public testing::Test {
 protected:
  std::string stamp(std::uint64_t position, std::string_view bytes, StreamId stream = StreamId::out) {
    return times_.stamp(stream, position, bytes, now_);
  }

  const output::WallTime now_ =
      output::WallTime(std::chrono::sys_days(std::chrono::year(2026) / 11 / 28) + 4h);
  LogTimes times_;
};

TEST_F(LogTimesTest, BeginsEachLineWithTheTimeOfItsFirstByte) {
  times_.add({2h, 2, 0}, now_);
  times_.add({1h, 6, 5}, now_);
  EXPECT_EQ(stamp(0, "a\nb\nc\n"),
            "2026-11-28T02:00:00Z a\n2026-11-28T03:00:00Z b\n2026-11-28T03:00:00Z c\n");
  EXPECT_EQ(stamp(0, "x", StreamId::err), "2026-11-28T03:00:00Z x");
  EXPECT_EQ(stamp(1, "y\n\nz", StreamId::err), "y\n2026-11-28T03:00:00Z \n2026-11-28T03:00:00Z z");
}

TEST_F(LogTimesTest, TakesWhatNoNoteKnowsAsNew) {
  EXPECT_EQ(stamp(0, "a\n"), "2026-11-28T04:00:00Z a\n");
  times_.add({2h, 4, 0}, now_);
  EXPECT_EQ(stamp(2, "b\nc\n"), "2026-11-28T02:00:00Z b\n2026-11-28T04:00:00Z c\n");
}

TEST_F(LogTimesTest, KeepsTheTimeOfANoteThatComesAgain) {
  times_.add({2h, 4, 0}, now_);
  times_.add({2h, 4, 0}, now_ + 30min);
  times_.add({1h, 2, 0}, now_);
  EXPECT_EQ(stamp(0, "a\nb\n"), "2026-11-28T02:00:00Z a\n2026-11-28T02:00:00Z b\n");
}

TEST_F(LogTimesTest, StampsWhatIsRedrawnButNoLineTwice) {
  EXPECT_EQ(stamp(0, "1%\r2%\r"), "2026-11-28T04:00:00Z 1%\r2026-11-28T04:00:00Z 2%\r");
  EXPECT_EQ(stamp(6, "\nx\r\n"), "\n2026-11-28T04:00:00Z x\r\n");
}

}  // namespace
}  // namespace podrun::jobs
