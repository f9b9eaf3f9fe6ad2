// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/dedup/log_remark.hpp"

#include <functional>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace podrun::output {
namespace {

class LogRemarkTest : public testing::Test {
 protected:
  /// Each of the hosts prints a line; its text has `text`, and its key has `key`.
  void print(std::size_t hosts, const std::function<std::string(std::size_t host)>& text,
             const std::string& key) {
    for (std::size_t host = 0; host < hosts; ++host) {
      if (remark_.wants_line(now_)) remark_.add(host, text(host), key);
    }
  }

  LogRemark remark_;
  LogRemark::TimePoint now_ = LogRemark::TimePoint() + std::chrono::hours(1);
};

TEST_F(LogRemarkTest, IsDueWhenOnlyTheKeysOfLinesAreEqual) {
  for (int step = 0; step < 10; ++step)
    print(
        4, [&](std::size_t host) { return fmt::format("12:00:0{} step {}", host, step); },
        fmt::format("step {}", step));
  EXPECT_FALSE(remark_.is_due(now_)) << "for some seconds";
  now_ += LogRemark::kWindow;
  EXPECT_TRUE(remark_.is_due(now_));
}

TEST_F(LogRemarkTest, IsNotDueWhereLinesAreEqualOrDifferInMore) {
  for (int step = 0; step < 10; ++step) {
    const std::string same = fmt::format("step {}", step);
    print(
        4, [&](std::size_t) { return same; }, same);
  }
  EXPECT_FALSE(remark_.is_due(now_ + LogRemark::kWindow));
  now_ += LogRemark::kWindow;
  for (int step = 0; step < 40; ++step) {
    const std::string own = fmt::format("loss {}", step);
    print(
        1, [&](std::size_t) { return own; }, own);
  }
  EXPECT_FALSE(remark_.is_due(now_ + LogRemark::kWindow)) << "one host alone";
}

TEST_F(LogRemarkTest, LooksAtAFewLinesOfEachWindow) {
  const auto text = [](std::size_t host) { return fmt::format("{}", host); };
  print(LogRemark::kMost + 100, text, "key");
  EXPECT_FALSE(remark_.wants_line(now_));
  now_ += LogRemark::kWindow;
  EXPECT_TRUE(remark_.wants_line(now_));
  print(LogRemark::kLeast - 1, text, "key");
  EXPECT_FALSE(remark_.is_due(now_ + LogRemark::kWindow)) << "too few lines";
}

}  // namespace
}  // namespace podrun::output
