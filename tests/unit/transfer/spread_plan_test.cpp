// SPDX-License-Identifier: Apache-2.0
// The rules by which hosts hand an archive on to each other.
#include <gtest/gtest.h>

#include "unit/transfer/spread_texts.hpp"

namespace podrun::transfer {
namespace {

using namespace std::chrono_literals;
using test::operator""_MiB;
using test::Spread;

TEST(SpreadPlan, FeedsTheFirstReadyHostAtOnce) {
  Spread spread(4);
  EXPECT_EQ(spread.ready(2), "2 from here at 0");
  EXPECT_EQ(spread.next_tick(), std::nullopt);
  EXPECT_EQ(spread.source(2), "seed");
}

TEST(SpreadPlan, LetsOtherHostsJoinTheSeed) {
  Spread spread(4);
  spread.ready(2);
  EXPECT_EQ(spread.ready(0), "listen 2: 0");
  EXPECT_EQ(spread.ready(1), "") << "the port may change with the next Listen";
  EXPECT_EQ(spread.ready(3), "");
  EXPECT_EQ(spread.port(2), "0 from 2; listen 2: 1,3");
  EXPECT_EQ(spread.joined(0), "");
  EXPECT_EQ(spread.port(2), "1 from 2; 3 from 2");
  EXPECT_EQ(spread.source(3), "none");
  spread.joined(3);
  EXPECT_EQ(spread.source(3), "2");
}

TEST(SpreadPlan, MakesTheFirstChildrenInnerHosts) {
  Spread spread(8, {.width = 2});
  spread.all_join(3);
  EXPECT_EQ(spread.ready(3), "listen 1: 3");
  EXPECT_EQ(spread.ready(4), "listen 2: 4");
  EXPECT_EQ(spread.port(1), "3 from 1");
  EXPECT_EQ(spread.ready(5), "listen 1: 5");
  EXPECT_EQ(spread.ready(6), "") << "2 is asked";
  EXPECT_EQ(spread.port(2), "4 from 2; listen 2: 6");
  EXPECT_EQ(spread.ready(7), "7 directly") << "two levels are full, and nobody else could join it";
  EXPECT_EQ(spread.source(7), "too late");
}

TEST(SpreadPlan, CoversTwoLevels) {
  Spread spread(273);
  spread.all_join(273);
  std::size_t from_seed = 0;
  for (std::size_t host = 1; host < 273; ++host) from_seed += spread.source(host) == "0" ? 1 : 0;
  EXPECT_EQ(from_seed, 16U);
  EXPECT_NE(spread.source(272), "none");
}

TEST(SpreadPlan, MakesAnotherSeedWhenTwoLevelsAreFull) {
  Spread spread(9, {.width = 2});
  spread.all_join(7);
  EXPECT_EQ(spread.ready(7), "7 from here at 0");
  EXPECT_EQ(spread.ready(8), "listen 7: 8");
}

TEST(SpreadPlan, WaitsForInnerHostsToJoin) {
  Spread spread(4, {.width = 1});
  spread.ready(0);
  spread.ready(1);
  EXPECT_EQ(spread.ready(2), "");
  EXPECT_EQ(spread.port(0), "1 from 0");
  EXPECT_EQ(spread.joined(1), "listen 1: 2");
}

TEST(SpreadPlan, DoesNotWaitLongForInnerHostsToJoin) {
  Spread spread(4, {.width = 1});
  spread.ready(0);
  spread.ready(1);
  spread.port(0);
  EXPECT_EQ(spread.ready(2), "");
  EXPECT_EQ(spread.next_tick(), 5000ms);
  EXPECT_EQ(spread.wait(), "2 from here at 0");
}

TEST(SpreadPlan, LetsALateHostJoinWhileAParentHasTheBeginning) {
  Spread spread(4);
  spread.all_join(2);
  spread.at(0, 32_MiB);
  spread.at(1, 32_MiB + 1);
  EXPECT_EQ(spread.ready(2), "listen 0: 2");
}

TEST(SpreadPlan, MakesALateHostAnotherSeed) {
  Spread spread(5);
  spread.all_join(2);
  spread.at(0, 32_MiB + 1);
  spread.at(1, 32_MiB + 1);
  EXPECT_EQ(spread.ready(2), "2 from here at 0");
  EXPECT_EQ(spread.source(2), "too late");
  EXPECT_EQ(spread.ready(3), "listen 2: 3");
  spread.at(2, 100_MiB);
  EXPECT_EQ(spread.port(2), "3 from 2") << "which says soon whether it still works";
  EXPECT_EQ(spread.ready(4), "4 directly") << "nobody else could join it";
}

TEST(SpreadPlan, FeedsHostsThatCannotRelayDirectly) {
  Spread spread(3);
  EXPECT_EQ(spread.ready_without_python(0), "0 directly");
  EXPECT_EQ(spread.ready(1), "1 from here at 0");
  EXPECT_EQ(spread.ready_without_python(2), "2 directly");
  EXPECT_EQ(spread.source(0), "cannot relay");
  EXPECT_EQ(spread.source(1), "seed");
}

TEST(SpreadPlan, NeverPairsHostsOnOneMachine) {
  Spread spread(4, {.width = 2});
  spread.ready(0, "172.17.0.2");
  EXPECT_EQ(spread.ready(1, "172.17.0.2"), "1 from here at 0");
  EXPECT_EQ(spread.source(1), "too late");
  EXPECT_EQ(spread.ready(2, "10.0.0.2"), "listen 0: 2");
  spread.port(0);
  spread.joined(2);
  EXPECT_EQ(spread.ready(3, "172.17.0.2"), "listen 2: 3") << "which came by another machine";
}

TEST(SpreadPlan, DoesNotTakeAHostForAParentBeforeItHasOne) {
  Spread spread(5, {.width = 1});
  spread.all_join(2);
  spread.ready(2);
  EXPECT_EQ(spread.lost(1, 0), "drop 0: 1; listen 0: 2") << "2 was not told to join 1";
  EXPECT_EQ(spread.port(1), "");
}

TEST(SpreadPlan, GivesOnlyAsManyChildrenAsTheWidth) {
  Spread spread(4, {.width = 1, .most_seeds = 1});
  spread.all_join(3);
  EXPECT_EQ(spread.ready(3), "3 directly") << "no third level";
}

TEST(SpreadPlan, AsksAnotherHostWhenOneCannotListen) {
  Spread spread(4);
  spread.ready(0);
  spread.ready(1);
  EXPECT_EQ(spread.on(event::Deaf{0}), "1 from here at 0");
  EXPECT_EQ(spread.ready(2), "listen 1: 2");
  EXPECT_EQ(spread.next_tick(), 5000ms);
  EXPECT_EQ(spread.wait(), "2 from here at 0") << "no answer";
  EXPECT_EQ(spread.port(1), "") << "too late";
  EXPECT_EQ(spread.ready(3), "listen 2: 3");
}

TEST(SpreadPlan, DoesNotTakeAHostThatIsDoneForAParent) {
  Spread spread(4);
  spread.all_join(2);
  spread.ready(2);
  EXPECT_EQ(spread.done(0), "2 from here at 0") << "it was not told yet";
  EXPECT_EQ(spread.port(0), "");
  EXPECT_EQ(spread.done(1), "");
  EXPECT_EQ(spread.ready(3), "listen 2: 3");
  EXPECT_EQ(spread.source(1), "0") << "still";
}

TEST(SpreadPlan, BeginsAgainWithAHostThatWasGone) {
  Spread spread(3);
  spread.all_join(3);
  spread.at(2, 500_MiB);
  spread.gone(2);
  EXPECT_EQ(spread.at(2, 600_MiB), "");
  EXPECT_EQ(spread.ready(2), "listen 0: 2");
  EXPECT_EQ(spread.gone(0), "2 from here at 0") << "a new first seed";
  EXPECT_EQ(spread.source(2), "seed");
}

TEST(SpreadPlan, HandlesEventsAtTheSameTimeLikeOneAfterTheOther) {
  Spread spread(5);
  spread.all_join(4);
  spread.lost(1, 3_MiB);
  spread.pass(300ms);
  EXPECT_EQ(spread.lost(2, 2_MiB), "drop 0: 2; 2 from here at 2; listen 2: 1") << "without a tick";
  EXPECT_EQ(spread.next_tick(), 5000ms);
}

TEST(SpreadPlan, IgnoresEventsThatComeTwiceOrTooLate) {
  Spread spread(4);
  spread.all_join(3);
  EXPECT_EQ(spread.ready(1), "");
  EXPECT_EQ(spread.joined(1), "");
  EXPECT_EQ(spread.port(0), "");
  EXPECT_EQ(spread.lost(1, 5_MiB), "drop 0: 1");
  EXPECT_EQ(spread.lost(1, 6_MiB), "");
  EXPECT_EQ(spread.joined(1), "");
  EXPECT_EQ(spread.gone(2), "drop 0: 2");
  EXPECT_EQ(spread.gone(2), "");
  for (const SpreadEvent& event :
       {SpreadEvent(event::Port{2}), SpreadEvent(event::Deaf{2}), SpreadEvent(event::Joined{2}),
        SpreadEvent(event::At{2, 1}), SpreadEvent(event::LostParent{2, 0, true}), SpreadEvent(event::Slow{2}),
        SpreadEvent(event::Done{2}), SpreadEvent(event::Dropped{0, 2, true}),
        SpreadEvent(event::Dropped{0, 99, true}), SpreadEvent(event::Slow{3}), SpreadEvent(event::At{3, 1}),
        SpreadEvent(event::Done{3}), SpreadEvent(event::LostParent{0, 0, false}),
        SpreadEvent(event::SpreadTick{})})
    EXPECT_EQ(spread.on(event), "");
  EXPECT_EQ(spread.ready(3), "listen 0: 3") << "Slow was about another attempt";
}

TEST(SpreadPlan, EndsWhenAllHostsAreGone) {
  Spread spread(3);
  spread.all_join(3);
  EXPECT_EQ(spread.gone(0), "");
  EXPECT_EQ(spread.lost(1, 1_MiB), "");
  EXPECT_EQ(spread.gone(1), "");
  EXPECT_EQ(spread.gone(2), "");
  EXPECT_EQ(spread.wait(), "");
  EXPECT_EQ(spread.next_tick(), std::nullopt);
}

TEST(SpreadPlan, DoesNotBelieveImpossibleOffsets) {
  Spread spread(3);
  spread.all_join(3);
  EXPECT_EQ(spread.lost(1, 5000_MiB), "drop 0: 1");
  EXPECT_EQ(spread.lost(2, 5000_MiB), "drop 0: 2");
  EXPECT_EQ(spread.wait(), "1 from here at 1000; listen 1: 2");
}

TEST(SpreadPlan, GivesThePlaceOfAHostThatIsDoneToAnother) {
  Spread spread(3, {.width = 1});
  spread.all_join(2);
  spread.done(1);
  EXPECT_EQ(spread.ready(2), "listen 0: 2");
}

TEST(SpreadPlan, DoesNotBelieveThatAHostJoinedBeforeItWasTold) {
  Spread spread(3);
  spread.ready(0);
  spread.ready(1);
  spread.joined(1);
  EXPECT_EQ(spread.source(1), "none");
  EXPECT_EQ(spread.port(0), "1 from 0");
}

TEST(SpreadPlan, WaitsForTheHostThatHasTheFiles) {
  Spread spread(4, {}, Spread::First::host);
  EXPECT_EQ(spread.ready(0), "");
  EXPECT_EQ(spread.ready_without_python(1), "1 directly");
  EXPECT_EQ(spread.next_tick(), std::nullopt);
  spread.pass(1min);
  EXPECT_EQ(spread.ready_with_files(2), "listen 2: 0");
  EXPECT_EQ(spread.source(2), "seed");
  EXPECT_EQ(spread.port(2), "0 from 2");
  spread.joined(0);
  spread.at(0, 900_MiB);
  EXPECT_EQ(spread.ready(3), "listen 2: 3") << "it has the beginning at any time";
}

TEST(SpreadPlan, FeedsHostsThatTheOneWithTheFilesCannotServe) {
  Spread spread(3, {}, Spread::First::host);
  spread.ready(0);
  EXPECT_EQ(spread.ready_with_files(2, false), "0 from here at 0");
  EXPECT_EQ(spread.source(0), "too late");
  EXPECT_EQ(spread.ready(1), "listen 0: 1");
}

TEST(SpreadPlan, GivesHostsWithTheFilesMorePatienceFromWhenTheyCome) {
  Spread spread(19, {.width = 1}, Spread::First::host);
  spread.ready(0);
  spread.ready(1);
  spread.pass(1min);
  EXPECT_EQ(spread.ready_with_files(2), "listen 2: 0") << "1 may become a child of 0";
  EXPECT_EQ(spread.next_tick(), 5000ms);
}

TEST(SpreadPlan, ServesAgainWhenTheHostWithTheFilesComesBack) {
  Spread spread(3, {}, Spread::First::host);
  spread.ready(0);
  spread.ready_with_files(2);
  spread.port(2);
  spread.joined(0);
  EXPECT_EQ(spread.gone(2), "");
  EXPECT_EQ(spread.lost(0, 5_MiB), "");
  EXPECT_EQ(spread.ready(1), "") << "podrun has nothing to send";
  EXPECT_EQ(spread.next_tick(), std::nullopt);
  EXPECT_EQ(spread.ready_with_files(2), "listen 2: 1");
}

}  // namespace
}  // namespace podrun::transfer
