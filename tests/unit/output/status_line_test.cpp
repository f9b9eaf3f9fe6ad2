// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/status_line.hpp"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "podrun/output/cell_width.hpp"

namespace podrun::output {
namespace {

using std::chrono::milliseconds;

TEST(StatusWay, IsPaintedOnATerminalThatCanBePainted) {
  EXPECT_EQ(choose_status_way(Progress::automatic, {"xterm", true, false}), StatusWay::painted);
  EXPECT_EQ(choose_status_way(Progress::automatic, {"xterm", false, false}), StatusWay::none);
  EXPECT_EQ(choose_status_way(Progress::automatic, {"dumb", true, false}), StatusWay::none);
  EXPECT_EQ(choose_status_way(Progress::automatic, {"", true, false}), StatusWay::none);
}

TEST(StatusWay, IsNoneWhereAnotherProgramMayWriteToTheTerminal) {
  EXPECT_EQ(choose_status_way(Progress::automatic, {"xterm", true, true}), StatusWay::none);
  EXPECT_EQ(choose_status_way(Progress::always, {"xterm", true, true}), StatusWay::painted) << "asked for";
}

TEST(StatusWay, IsLinesWhereItIsAskedForAndCannotBePainted) {
  EXPECT_EQ(choose_status_way(Progress::always, {"xterm", false, true}), StatusWay::lines);
  EXPECT_EQ(choose_status_way(Progress::always, {"dumb", true, false}), StatusWay::lines);
  EXPECT_EQ(choose_status_way(Progress::never, {"xterm", true, false}), StatusWay::none);
}

TEST(Charset, IsThatOfTheFirstVariableThatNamesOne) {
  EXPECT_EQ(choose_charset({}, {}, "en_US.UTF-8"), Charset::utf8);
  EXPECT_EQ(choose_charset("", "de_DE.utf8", "C"), Charset::utf8);
  EXPECT_EQ(choose_charset("C", "en_US.UTF-8", "en_US.UTF-8"), Charset::ascii);
  EXPECT_EQ(choose_charset({}, {}, "de_DE.ISO-8859-1"), Charset::ascii);
  EXPECT_EQ(choose_charset({}, {}, {}), Charset::ascii) << "the C locale";
}

TEST(BarState, IsTheLastOneOfAnUnfinishedLine) {
  EXPECT_EQ(bar_state("\r 44%|####4     | 890/2000\r 45%|####5     | 900/2000"), "45%|####5     | 900/2000");
  EXPECT_EQ(bar_state("10%\r20%\r"), "20%") << "with its return after it";
  EXPECT_EQ(bar_state("\r\x1b[32m45%\x1b[0m \x1b[K"), "45%") << "without colours";
  EXPECT_EQ(bar_state("\r45%\x1b[3"), "45%") << "cut off within a sequence";
  EXPECT_EQ(bar_state("no bar"), "");
  EXPECT_EQ(bar_state("\r  \r"), "");
  EXPECT_EQ(bar_state(""), "");
}

const StatusText kText = {
    {"28 running"}, {"3 done"}, {"1 failed [7]", "1 failed"}, {"slowest [12] silent 94 s"}, {"1.2 MB/s"}};
const Bar kBar = {0, "45%|####5     | 900/2000"};

std::string compose(std::size_t cells) { return compose_status(kText, kBar, Charset::utf8, cells); }

TEST(ComposeStatus, ShowsAllWhereThereIsRoom) {
  EXPECT_EQ(compose(200),
            "28 running · 3 done · 1 failed [7] · slowest [12] silent 94 s · 1.2 MB/s · "
            "[0] 45%|####5     | 900/2000");
  EXPECT_EQ(compose_status(kText, std::nullopt, Charset::utf8, 200),
            "28 running · 3 done · 1 failed [7] · slowest [12] silent 94 s · 1.2 MB/s");
  EXPECT_EQ(compose_status({}, kBar, Charset::utf8, 200), "");
}

TEST(ComposeStatus, DropsFromTheRightWhatDoesNotFit) {
  EXPECT_EQ(
      compose(99),
      "28 running · 3 done · 1 failed [7] · slowest [12] silent 94 s · 1.2 MB/s · [0] 45%|####5     | 900/");
  EXPECT_EQ(compose(79), "28 running · 3 done · 1 failed [7] · slowest [12] silent 94 s · 1.2 MB/s");
  EXPECT_EQ(compose(60), "28 running · 3 done · 1 failed [7]");
  EXPECT_EQ(compose(34), "28 running · 3 done · 1 failed [7]");
  EXPECT_EQ(compose(33), "28 running · 3 done · 1 failed");
  EXPECT_EQ(compose(19), "28 running · 3 done");
  EXPECT_EQ(compose(18), "28 running");
  EXPECT_EQ(compose(4), "28 r");
  EXPECT_EQ(compose(0), "");
}

TEST(ComposeStatus, CanBeginShorter) {
  const auto compose = [](std::size_t cells) {
    return compose_status({{"2 ending [3,7]", "2 ending"}, {"3 done"}}, std::nullopt, Charset::utf8, cells);
  };
  EXPECT_EQ(compose(14), "2 ending [3,7]");
  EXPECT_EQ(compose(13), "2 ending");
  EXPECT_EQ(compose(5), "2 end");
}

TEST(ComposeStatus, FitsIntoEveryWidth) {
  const Bar wide = {12, "学習中 🚀 45%|████▌     | e\u0301poche"};
  for (std::size_t cells = 0; cells <= 200; ++cells) {
    const std::string line = compose_status(kText, wide, Charset::utf8, cells);
    EXPECT_LE(cell_width(line), cells);
    EXPECT_EQ(line.find('\xff'), std::string::npos);
  }
  const auto narrow = [&](std::size_t cells) {
    return compose_status({{"1 running"}}, wide, Charset::utf8, cells);
  };
  EXPECT_EQ(narrow(28), "1 running · [12] 学習中 🚀 4");
  EXPECT_EQ(narrow(27), "1 running · [12] 学習中 🚀 ");
  EXPECT_EQ(narrow(26), "1 running") << "too little would be left of it";
}

TEST(ComposeStatus, LeavesNoControlByteInABar) {
  const Bar bar = {0, "a\x1b]0;title\x07\xff\tb"};
  EXPECT_EQ(compose_status({{"1 running"}}, bar, Charset::utf8, 200),
            "1 running · [0] a\\x1b]0;title\\x07\\xff\\x09b");
}

TEST(ComposeStatus, IsAsciiWhereTheLocaleIs) {
  EXPECT_EQ(compose_status({{"1 running"}, {"3 done"}}, Bar{0, "学é 50%|██   |"}, Charset::ascii, 200),
            "1 running | 3 done | [0] ?? 50%|??   |");
}

class StatusLineTest : public testing::Test {
 protected:
  StatusLine::TimePoint at(int ms) const { return begin_ + milliseconds(ms); }
  void say(const std::string& text) { line_.say({{text}}, std::nullopt); }
  std::string paint(int ms, std::size_t columns = 80) { return line_.paint(at(ms), columns); }
  static std::string painted(const std::string& text) { return "\r\x1b[?7l" + text + "\x1b[J\x1b[?7h\r"; }

  const StatusLine::TimePoint begin_ = std::chrono::steady_clock::now();
  StatusLine line_;
};

TEST_F(StatusLineTest, IsPaintedOverWhatWasThereAndLeavesTheCursorAtItsBeginning) {
  EXPECT_EQ(paint(0), "");
  say("2 running");
  EXPECT_EQ(paint(0), painted("2 running"));
  say("1 running");
  EXPECT_EQ(paint(100), painted("1 running"));
  EXPECT_EQ(line_.erase(), "\r\x1b[J");
  EXPECT_EQ(line_.erase(), "") << "it is gone";
}

TEST_F(StatusLineTest, IsPaintedAtMostTenTimesASecond) {
  int times = 0;
  for (int ms = 0; ms < 2000; ++ms) {
    say(std::to_string(ms));
    if (!paint(ms).empty()) ++times;
    line_.erase();  // as a flood of output does
  }
  EXPECT_EQ(times, 20);
}

TEST_F(StatusLineTest, KnowsWhenItIsDue) {
  EXPECT_EQ(line_.due(), StatusLine::TimePoint::max());
  say("2 running");
  EXPECT_LE(line_.due(), at(0)) << "at once";
  paint(0);
  EXPECT_EQ(line_.due(), StatusLine::TimePoint::max());
  EXPECT_EQ(line_.stays_until(), at(100));
  line_.erase();
  EXPECT_EQ(line_.due(), at(100));
  EXPECT_LE(line_.stays_until(), at(0)) << "there is nothing to stay";
  EXPECT_EQ(paint(99), "");
  EXPECT_EQ(line_.due(), at(100));
  EXPECT_EQ(paint(100), painted("2 running"));
}

TEST_F(StatusLineTest, IsNotPaintedAgainUnchanged) {
  say("2 running");
  paint(0);
  say("2 running");
  EXPECT_EQ(paint(100), "");
  say("2 running");
  EXPECT_EQ(paint(200, 6), painted("2 run")) << "the terminal has become narrower";
}

TEST_F(StatusLineTest, WaitsForTheNextWordWhenItCannotBePainted) {
  say("2 running");
  EXPECT_EQ(paint(0, 0), "");
  EXPECT_EQ(line_.due(), StatusLine::TimePoint::max()) << "or it would be tried on and on";
  say("2 running");
  EXPECT_EQ(paint(10), painted("2 running"));
}

TEST_F(StatusLineTest, IsErasedWhereItStandsAfterLinesWereTyped) {
  EXPECT_EQ(line_.erase_above(1), "");
  say("2 running");
  paint(0);
  EXPECT_EQ(line_.erase_above(2), "\x1b[2A\r\x1b[J");
  EXPECT_EQ(paint(100), painted("2 running"));
}

TEST_F(StatusLineTest, IsErasedWhenItHasNothingToSay) {
  say("2 running");
  paint(0);
  line_.say({}, kBar);
  EXPECT_EQ(paint(100), "\r\x1b[J");
  EXPECT_EQ(line_.due(), StatusLine::TimePoint::max());
}

}  // namespace
}  // namespace podrun::output
