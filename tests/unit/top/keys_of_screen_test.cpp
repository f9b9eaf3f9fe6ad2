// SPDX-License-Identifier: Apache-2.0
// What keys change.
#include <string>

#include <gmock/gmock.h>

#include "podrun/base/text.hpp"
#include "podrun/top/folding.hpp"

#include "unit/top/screens.hpp"

namespace podrun::top {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class ScreenKeys : public testing::Test {
 protected:
  ScreenKeys() {
    pod_.hosts[12].ahead = 3;
    pod_.hosts[5].root = 100;
    pod_.hosts[18].pressure = 50;
    pod_.steps(4);
    show();
  }

  std::string show() { return join(screen(pod_, state_, {.columns = 80, .rows = 24}), "\n"); }
  KeyEffect press(const Key& key) {
    const KeyEffect effect = handle_key(key, pod_.pod, list_rows(pod_.pod, state_), state_);
    show();
    return effect;
  }
  KeyEffect press(Key::Kind kind) { return press(Key{.kind = kind}); }
  KeyEffect press(const std::string& text) { return press(Key{.text = text}); }
  void type(const std::string& text) {
    for (const char c : text) press(std::string(1, c));
  }
  std::vector<std::size_t> rows() const {
    std::vector<std::size_t> first;
    for (const ListRow& row : list_rows(pod_.pod, state_)) first.push_back(row.hosts.front());
    return first;
  }

  FakePod pod_{20};
  ScreenState state_;
};

TEST_F(ScreenKeys, TheCursorBeginsAtTheWorstHost) {
  EXPECT_EQ(state_.cursor, 5U);
  pod_.hosts[9].root = 100;
  pod_.hosts[5].root = 34;
  pod_.steps(7);
  show();
  EXPECT_EQ(state_.cursor, 9U);  // it has not been moved
}

TEST_F(ScreenKeys, MoveTheCursor) {
  EXPECT_THAT(rows(), ElementsAre(5, 12, 18, 0));
  press("j");
  EXPECT_EQ(state_.cursor, 12U);
  press(Key::Kind::down);
  EXPECT_EQ(state_.cursor, 18U);
  press("k");
  press(Key::Kind::up);
  press(Key::Kind::up);
  EXPECT_EQ(state_.cursor, 5U);
  press(Key::Kind::end);
  EXPECT_EQ(state_.cursor, 0U);
  press(Key::Kind::page_up);
  EXPECT_EQ(state_.cursor, 5U);
  press(Key::Kind::page_down);
  EXPECT_EQ(state_.cursor, 0U);
  press(Key::Kind::home);
  EXPECT_EQ(state_.cursor, 5U);
}

TEST_F(ScreenKeys, TheCursorStaysOnItsHost) {
  press("j");
  pod_.hosts[3].root = 100;
  pod_.step();
  show();
  EXPECT_EQ(state_.cursor, 12U);
  EXPECT_THAT(rows(), ElementsAre(5, 3, 12, 18, 0));
  press("j");
  EXPECT_EQ(state_.cursor, 18U);
}

TEST_F(ScreenKeys, TheCursorIsAlwaysOnTheScreen) {
  press("f");
  press(Key::Kind::end);
  EXPECT_THAT(show(), HasSubstr("gpu19"));
  press(Key::Kind::home);
  EXPECT_THAT(show(), HasSubstr("gpu5"));
}

TEST_F(ScreenKeys, OpenAndCloseAHost) {
  press("j");
  press(Key::Kind::enter);
  EXPECT_EQ(state_.page, ScreenState::Page::host);
  EXPECT_THAT(show(), HasSubstr("worker 12"));
  press("j");
  press("j");
  press("k");
  EXPECT_EQ(state_.cursor, 12U);  // they scroll
  press("n");
  EXPECT_THAT(show(), HasSubstr("worker 18"));
  press("p");
  press("p");
  EXPECT_THAT(show(), HasSubstr("worker 5"));
  press(Key::Kind::escape);
  EXPECT_EQ(state_.page, ScreenState::Page::pod);
}

TEST_F(ScreenKeys, AnOpenHostStaysThoughAnotherOneIsWorse) {
  press(Key::Kind::enter);
  pod_.hosts[3].root = 100;
  pod_.hosts[5].root = 34;
  pod_.steps(8);
  EXPECT_THAT(show(), HasSubstr("worker 5"));
  press(Key::Kind::escape);
  EXPECT_EQ(state_.cursor, 5U);
}

TEST_F(ScreenKeys, GoToOddHosts) {
  press("n");
  EXPECT_EQ(state_.cursor, 12U);
  press("n");
  press("n");
  EXPECT_EQ(state_.cursor, 5U);
  press("p");
  EXPECT_EQ(state_.cursor, 18U);
}

TEST_F(ScreenKeys, SayThatNoHostIsOdd) {
  FakePod pod(3);
  pod.steps(2);
  handle_key({.text = "n"}, pod.pod, list_rows(pod.pod, state_), state_);
  EXPECT_EQ(state_.message, "no host is odd");
}

TEST_F(ScreenKeys, SortTheList) {
  press("s");
  EXPECT_EQ(rows()[0], 0U);
  EXPECT_THAT(rows(), SizeIs(20));
  press("m");
  pod_.hosts[7].gpus[0].watts = "700.00";
  for (FakeGpu& gpu : pod_.hosts[7].gpus) gpu.watts = "700.00";
  pod_.step();
  press("s");
  EXPECT_EQ(state_.figure, Figure::watts);
  EXPECT_EQ(rows()[0], 7U);
  press("s");
  EXPECT_EQ(rows()[0], 5U);
}

TEST_F(ScreenKeys, ChooseAFigureThatIsKnown) {
  std::vector<Figure> seen;
  for (std::size_t i = 0; i < kFigures; ++i) {
    press("m");
    seen.push_back(state_.figure);
    EXPECT_TRUE(pod_.pod.extremes(state_.figure));
  }
  EXPECT_THAT(seen, testing::Contains(Figure::busy));
  EXPECT_THAT(seen, testing::Contains(Figure::disk));
  EXPECT_THAT(show(), HasSubstr("of each host in tenths"));
}

TEST_F(ScreenKeys, FoldHosts) {
  press("f");
  EXPECT_THAT(rows(), SizeIs(20));
  press("f");
  EXPECT_THAT(rows(), SizeIs(4));
}

TEST_F(ScreenKeys, ShowTheHostsOfARun) {
  pod_.hosts[18].holders.clear();
  pod_.step();
  press("r");
  EXPECT_EQ(state_.filter.text(), "run=train");
  EXPECT_THAT(rows(), ElementsAre(5, 12, 0));
  press("r");
  EXPECT_TRUE(state_.filter.is_empty());
  press("n");
  press("n");
  press("r");
  EXPECT_EQ(state_.message, "no run is known on this host");
}

TEST_F(ScreenKeys, TypeAFilter) {
  press("/");
  type("tpuq");
  EXPECT_THAT(show(), HasSubstr("/tpuq"));
  press(Key::Kind::backspace);
  press(Key::Kind::enter);
  EXPECT_THAT(rows(), IsEmpty());
  EXPECT_THAT(show(), HasSubstr("no host matches the filter"));
  press("/");
  press(Key::Kind::escape);
  EXPECT_EQ(state_.filter.text(), "tpu");
  press(Key::Kind::escape);
  EXPECT_TRUE(state_.filter.is_empty());
  press("/");
  type("é");
  press(Key::Kind::backspace);
  press(Key::Kind::backspace);
  press(Key::Kind::backspace);
  EXPECT_EQ(*state_.typed_filter, "");
}

TEST_F(ScreenKeys, NameAWrongFilter) {
  press("/");
  type("gpu<5");
  press(Key::Kind::enter);
  EXPECT_THAT(show(), HasSubstr("bad filter \"gpu<5\""));
  EXPECT_EQ(*state_.typed_filter, "gpu<5");
  press(Key::Kind::backspace);
  EXPECT_THAT(show(), Not(HasSubstr("bad filter")));
}

TEST_F(ScreenKeys, AFilterIsTypedWhereItIsSeen) {
  press(Key::Kind::enter);
  press("/");
  EXPECT_THAT(show(), HasSubstr("run=train  a name"));
}

TEST_F(ScreenKeys, TheCursorGoesToAHostThatIsShown) {
  press("/");
  type("[12-13]");
  press(Key::Kind::enter);
  EXPECT_EQ(state_.cursor, 12U);
  press("j");
  EXPECT_EQ(state_.cursor, 13U);
}

TEST_F(ScreenKeys, HoldKeepsTheRows) {
  press(" ");
  const std::vector<std::size_t> before = rows();
  pod_.hosts[3].root = 100;
  pod_.hosts[5].root = 34;
  pod_.hosts[12].cpu = 66;
  pod_.steps(8);
  EXPECT_EQ(rows(), before);
  EXPECT_THAT(show(), HasSubstr("hold  2 s"));
  EXPECT_THAT(show(), HasSubstr("66"));  // figures go on
  press("j");
  EXPECT_EQ(state_.cursor, 12U);
  press("s");  // other rows, which stay then
  EXPECT_EQ(rows()[0], 0U);
  EXPECT_THAT(rows(), SizeIs(20));
  press("s");
  press("s");
  press(" ");
  EXPECT_THAT(show(), Not(HasSubstr("hold  2 s")));
  EXPECT_EQ(rows()[0], 3U);
}

TEST_F(ScreenKeys, MoveInTheField) {
  press(Key::Kind::tab);
  EXPECT_TRUE(state_.is_in_field);
  press("j");
  EXPECT_EQ(state_.cursor, 6U);
  press(Key::Kind::right);
  EXPECT_EQ(state_.cursor, 7U);
  press(Key::Kind::left);
  press(Key::Kind::end);
  EXPECT_EQ(state_.cursor, 19U);
  press(Key::Kind::enter);
  EXPECT_THAT(show(), HasSubstr("worker 19"));
  press(Key::Kind::escape);
  press(Key::Kind::escape);
  EXPECT_FALSE(state_.is_in_field);
}

TEST_F(ScreenKeys, QuitAndChangeTheInterval) {
  EXPECT_TRUE(press("q").quits);
  EXPECT_EQ(press("+").interval_step, -1);
  EXPECT_EQ(press("-").interval_step, 1);
  EXPECT_FALSE(press("x").quits);
  press("/");
  EXPECT_FALSE(press("q").quits);
}

TEST_F(ScreenKeys, ShowHelp) {
  for (const Key::Kind back : {Key::Kind::escape, Key::Kind::enter}) {
    press("?");
    EXPECT_THAT(show(), HasSubstr("podrun top: keys"));
    press(back);
    EXPECT_EQ(state_.page, ScreenState::Page::pod);
  }
}

TEST_F(ScreenKeys, SayHowToStopTheJobThatHoldsAHost) {
  press("K");
  EXPECT_THAT(show(), HasSubstr("podrun -H 'gpu[0-255]' stop train"));
}

TEST_F(ScreenKeys, SayHowToKill) {
  pod_.hosts[5].holders.front().mark = "0e5a3b6d9c1f4e7a.3.";
  pod_.steps(4);
  press("K");
  EXPECT_THAT(show(), HasSubstr("podrun -H 'gpu[0-255]' kill --workers 5"));
  press(Key::Kind::enter);
  press("K");
  EXPECT_THAT(show(), HasSubstr("kill --workers 5"));
}

TEST_F(ScreenKeys, TheHelpScrollsOnASmallScreen) {
  const output::ScreenSize small{.columns = 80, .rows = 8};
  const auto lines = [&] { return screen(pod_, state_, small); };
  const auto type = [&](const Key& key) {
    handle_key(key, pod_.pod, list_rows(pod_.pod, state_), state_);
    lines();
  };
  type(Key{.text = "?"});
  EXPECT_EQ(lines().front(), "podrun top: keys");
  EXPECT_THAT(lines().back(), HasSubstr("11 more"));
  type(Key{.text = "j"});
  EXPECT_THAT(lines()[1], HasSubstr("arrows"));
  type(Key{.kind = Key::Kind::end});
  EXPECT_THAT(lines()[6], HasSubstr("! odd"));
  EXPECT_THAT(lines().back(), Not(HasSubstr("more")));
  type(Key{.text = "k"});
  EXPECT_THAT(lines()[6], HasSubstr("Cells"));
  type(Key{.text = "?"});
  type(Key{.text = "?"});
  EXPECT_EQ(lines().front(), "podrun top: keys");
  EXPECT_EQ(screen(pod_, state_, {.columns = 80, .rows = 1}).size(), 1U);
}

}  // namespace
}  // namespace podrun::top
