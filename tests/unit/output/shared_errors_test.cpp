// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/dedup/shared_errors.hpp"

#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace podrun::output {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class SharedErrorsTest : public testing::Test {
 protected:
  void out(std::size_t host, const std::string& text) { errors_.line(now_, {host, StreamId::out, text}); }
  void err(std::size_t host, const std::string& text) { errors_.line(now_, {host, StreamId::err, text}); }
  void wait(std::chrono::milliseconds time) { errors_.tick(now_ += time); }

  std::vector<std::string> shown_;
  SharedErrors::TimePoint now_{1h};
  SharedErrors errors_{4, 500ms, SharedErrors::OtherLines::wait,
                       [this](std::span<const std::size_t> hosts, const Line& line) {
                         shown_.push_back(fmt::format("{} {}{}", fmt::join(hosts, ","),
                                                      line.stream == StreamId::err ? "!" : "", line.text));
                       }};
};

TEST_F(SharedErrorsTest, ShowsAnErrorOnceAsSoonAsAllHostsHaveIt) {
  for (std::size_t host = 0; host < 4; ++host) {
    EXPECT_THAT(shown_, IsEmpty());
    err(host, "sh: nosuch: not found");
  }
  EXPECT_THAT(shown_, ElementsAre("0,1,2,3 !sh: nosuch: not found"));
}

TEST_F(SharedErrorsTest, ShowsWhatNoOtherHostHasAfterTheWindow) {
  err(2, "a");
  err(3, "b");
  err(1, "a");
  wait(499ms);
  EXPECT_THAT(shown_, IsEmpty());
  wait(1ms);
  EXPECT_THAT(shown_, ElementsAre("1,2 !a", "3 !b"));
}

TEST_F(SharedErrorsTest, ShowsALateErrorAgain) {
  err(0, "a");
  wait(500ms);
  err(1, "a");
  wait(500ms);
  EXPECT_THAT(shown_, ElementsAre("0 !a", "1 !a"));
}

TEST_F(SharedErrorsTest, ShowsOtherLinesAtOnceAndAsTheyAre) {
  out(0, "x");
  out(1, "x");
  EXPECT_THAT(shown_, ElementsAre("0 x", "1 x"));
}

TEST_F(SharedErrorsTest, KeepsTheOrderOfAHostsLines) {
  err(0, "a");
  out(0, "b");
  err(0, "c");
  out(0, "d");
  out(1, "e");
  EXPECT_THAT(shown_, ElementsAre("1 e"));
  wait(500ms);
  EXPECT_THAT(shown_, ElementsAre("1 e", "0 !a", "0 b", "0 !c", "0 d"));
}

TEST_F(SharedErrorsTest, DoesNotHoldMuchBack) {
  err(0, "a");
  for (int line = 0; line < 1000; ++line) out(0, std::string(100, 'x'));
  EXPECT_GT(shown_.size(), 300U);
  EXPECT_EQ(shown_.front(), "0 !a");
}

TEST_F(SharedErrorsTest, ShowsAllAtTheEnd) {
  err(0, "a");
  out(0, "b");
  errors_.host_ended(0);
  errors_.finish();
  EXPECT_THAT(shown_, ElementsAre("0 !a", "0 b"));
}

TEST_F(SharedErrorsTest, ShowsEveryLineOnceInTheOrderOfItsHost) {
  std::mt19937 random(7);
  std::vector<std::vector<std::string>> given(4);
  for (int step = 0; step < 20'000; ++step) {
    const std::size_t host = random() % 4;
    const std::string text(1, static_cast<char>('a' + random() % 6));
    const bool is_error = random() % 2 == 0;
    given[host].push_back((is_error ? "!" : "") + text);
    if (is_error)
      err(host, text);
    else
      out(host, text);
    if (random() % 4 == 0) wait(std::chrono::milliseconds(random() % 200));
  }
  errors_.finish();
  std::vector<std::vector<std::string>> seen(4);
  for (const std::string& line : shown_) {
    const std::size_t blank = line.find(' ');
    for (std::size_t at = 0; at < blank; at += 2)
      seen[static_cast<std::size_t>(line[at] - '0')].push_back(line.substr(blank + 1));
  }
  EXPECT_EQ(seen, given);
}

}  // namespace
}  // namespace podrun::output
