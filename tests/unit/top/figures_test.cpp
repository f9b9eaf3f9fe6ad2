// SPDX-License-Identifier: Apache-2.0
#include "podrun/top/figures.hpp"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "podrun/output/cell_width.hpp"
#include "podrun/top/frames.hpp"

namespace podrun::top {
namespace {

using testing::Optional;
using testing::SizeIs;

class FiguresOfAHost : public testing::Test {
 protected:
  void feed(const std::string& text) { reader_.feed(text); }
  std::optional<double> get(Figure figure) const { return at(figures_of(report_), figure); }
  HostReport report_;
  FrameReader reader_{report_};
};

TEST_F(FiguresOfAHost, CpuIsBusyWhenItIsNotIdle) {
  feed("s cores=4\nf u100 i1000\n");
  EXPECT_FALSE(get(Figure::cpu));
  feed("f u110 i1030\n");
  EXPECT_THAT(get(Figure::cpu), Optional(25.0));
  feed("f u120 i1071\n");  // more than the cores can idle: the clocks are not exact
  EXPECT_THAT(get(Figure::cpu), Optional(0.0));
}

TEST_F(FiguresOfAHost, WaitingForDisksIsNotBusy) {
  feed("s cores=4\nf u100 i1000 c0,0,0,0,0,0,0,0\nf u110 i1020 c800,100,500,2000,400,100,100,0\n");
  const auto times = cpu_times(report_);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->user, 22.5);
  EXPECT_EQ(times->system, 17.5);
  EXPECT_EQ(times->wait, 10);
  EXPECT_EQ(times->steal, 0);
  EXPECT_THAT(get(Figure::cpu), Optional(40.0));
}

TEST_F(FiguresOfAHost, CpuNeedsTheNumberOfCores) {
  feed("f u100 i1000\nf u110 i1030\n");
  EXPECT_FALSE(get(Figure::cpu));
}

TEST_F(FiguresOfAHost, RatesAreBytesASecond) {
  feed("f u100 n1000,5000 d10,20\nf u110 n3000,105000 d30,20\n");
  EXPECT_EQ(net_rates(report_)->in, 200);
  EXPECT_EQ(net_rates(report_)->out, 10'000);
  EXPECT_THAT(get(Figure::net), Optional(10'000.0));
  EXPECT_THAT(get(Figure::disk), Optional(1024.0));
}

TEST_F(FiguresOfAHost, HaveNoRateOverAResetOrARebootOrAGap) {
  feed("s cores=4\nf u100 i1000 n1000,1000 d10,10\nf u110 i10 n10,2000 d5,20\n");
  EXPECT_FALSE(get(Figure::net) || get(Figure::disk) || get(Figure::cpu));
  feed("f u5 i1 n90000,90000 d90,90\n");
  EXPECT_FALSE(get(Figure::net) || get(Figure::disk) || get(Figure::cpu));
  feed("f u6 i4\n");
  EXPECT_FALSE(get(Figure::net) || get(Figure::disk));
  feed("f u6 i4 n1,1\nf u6 i4 n2,2\n");  // no time has passed
  EXPECT_FALSE(get(Figure::net) || get(Figure::cpu));
}

TEST_F(FiguresOfAHost, HaveNoRateSinceAFrameWithoutUptime) {
  feed("s cores=4\nf i1000 n1000,1000\nf u100 i1030 n5000,5000\n");
  EXPECT_FALSE(get(Figure::net) || get(Figure::cpu));
}

TEST_F(FiguresOfAHost, MemoryAndRoot) {
  feed("m 0 nfs /home\nm 1 ext4 /\nd 1 1 rw a 100 30 70 30% /\nf u1 M1000 A560 pm3.5\n");
  EXPECT_THAT(get(Figure::ram), Optional(testing::DoubleNear(44, 1e-9)));
  EXPECT_THAT(get(Figure::root), Optional(testing::DoubleNear(30, 1e-9)));
  EXPECT_THAT(get(Figure::pressure), Optional(3.5));
  feed("f u2 M0 A560\n");
  EXPECT_FALSE(get(Figure::ram) || get(Figure::pressure));
  feed("f u3 M100 A560\n");
  EXPECT_THAT(get(Figure::ram), Optional(0.0));
}

TEST_F(FiguresOfAHost, TheWorstChipCounts) {
  feed(
      "s nvidia=3\ng 9 0, 98, 40, 80, 600, 60, 1980, 1980, 0, 0x0\n"
      "g 9 1, 3, 20, 80, 500, 61, 1110, 1980, 0, 0x0\n"
      "g 9 2, [N/A], 72, 80, [N/A], 88, [N/A], 1980, 0, 0x0\nf u10\n");
  EXPECT_THAT(get(Figure::busy), Optional(3.0));
  EXPECT_THAT(get(Figure::watts), Optional(500.0));
  EXPECT_THAT(get(Figure::hbm), Optional(testing::DoubleNear(90, 1e-9)));
  EXPECT_THAT(get(Figure::celsius), Optional(88.0));
  EXPECT_THAT(get(Figure::mhz), Optional(1110.0));
  EXPECT_EQ(worst_chip(report_, Figure::celsius)->index, 2U);
  EXPECT_EQ(worst_chip(report_, Figure::cpu), nullptr);
}

TEST_F(FiguresOfAHost, DoNotCountOldChips) {
  feed("s nvidia=1\ng 10 0, 98, 40, 80, 600, 60, 1980, 1980, 0, 0x0\nf u25\n");
  EXPECT_THAT(get(Figure::busy), Optional(98.0));
  feed("f u26\n");
  EXPECT_FALSE(get(Figure::busy) || get(Figure::watts) || get(Figure::hbm));
  EXPECT_THAT(fresh_chips(report_), SizeIs(0));
}

TEST(ExtremesOfValues, LeavesOutWhatIsNotKnown) {
  EXPECT_FALSE(extremes_of({}));
  EXPECT_FALSE(extremes_of({std::nullopt, std::nullopt}));
  const auto one = extremes_of({std::nullopt, 7.0});
  EXPECT_EQ(one->least, 7);
  EXPECT_EQ(one->median, 7);
  EXPECT_EQ(one->worst, 1U);
  const auto four = extremes_of({4.0, 1.0, std::nullopt, 3.0, 100.0});
  EXPECT_EQ(four->least, 1);
  EXPECT_EQ(four->median, 3.5);
  EXPECT_EQ(four->most, 100);
  EXPECT_EQ(four->worst, 4U);
}

TEST(Values, AreShort) {
  const auto text = [](Figure figure, double value) { return short_value(kind_of(figure), value); };
  EXPECT_EQ(text(Figure::busy, 97.6), "98");
  EXPECT_EQ(text(Figure::busy, 0), "0");
  EXPECT_EQ(text(Figure::watts, 655.4), "655");
  EXPECT_EQ(text(Figure::net, 0), "0");
  EXPECT_EQ(text(Figure::net, 1), "1.0");
  EXPECT_EQ(text(Figure::net, 999.4), "999");
  EXPECT_EQ(text(Figure::net, 999.6), "1.0 k");
  EXPECT_EQ(text(Figure::net, 41.2e9), "41 G");
  EXPECT_EQ(text(Figure::net, 0.3e9), "300 M");
  EXPECT_EQ(text(Figure::clock, -2.44), "-2.4");
  EXPECT_EQ(text(Figure::clock, -0.01), "0.0");
  for (double value = 1; value < 1e16; value *= 1.37) EXPECT_LE(text(Figure::net, value).size(), 5U) << value;
}

TEST(Values, FitTheirColumns) {
  for (const FigureKind& kind : figure_kinds()) {
    if (kind.column.width == 0) continue;
    EXPECT_GT(kind.column.width, output::cell_width(kind.column.heading)) << kind.id;
    EXPECT_GT(kind.column.width, output::cell_width(short_value(kind, 100))) << kind.id;
    EXPECT_LE(output::cell_width(kind.name), 7U) << kind.id;
  }
}

TEST(Values, HaveUnits) {
  const auto text = [](Figure figure, double value) { return long_value(kind_of(figure), value); };
  EXPECT_EQ(text(Figure::busy, 97.6), "98 %");
  EXPECT_EQ(text(Figure::watts, 655.4), "655 W");
  EXPECT_EQ(text(Figure::celsius, 88), "88 °C");
  EXPECT_EQ(text(Figure::mhz, 1110), "1110 MHz");
  EXPECT_EQ(text(Figure::net, 41.2e9), "41 GB/s");
  EXPECT_EQ(text(Figure::net, 12), "12 B/s");
  EXPECT_EQ(text(Figure::clock, 2.44), "2.4 s");
}

}  // namespace
}  // namespace podrun::top
