// SPDX-License-Identifier: Apache-2.0
// What happens when hosts, their relays or the network between them fail: each fault that was tried on real
// hosts, as a list of events.
#include <gtest/gtest.h>

#include "unit/transfer/spread_texts.hpp"

namespace podrun::transfer {
namespace {

using namespace std::chrono_literals;
using test::operator""_MiB;
using test::Spread;
using Parent = SpreadStanding::Parent;

TEST(SpreadPlanFaults, ServesAHostAgainThatWasLostAfterItWasDone) {
  Spread spread(2);
  spread.all_join(2);
  spread.done(1);
  EXPECT_EQ(spread.ready(1), "listen 0: 1");
  EXPECT_EQ(spread.port(0), "1 from 0");
}

TEST(SpreadPlanFaults, GoesDirectlyWhereNothingWorksBetweenHosts) {
  Spread spread(6);
  for (std::size_t host = 0; host < 4; ++host) spread.ready(host);
  spread.port(0);
  spread.port(0);
  spread.pass(2500ms);
  EXPECT_EQ(spread.never_joined(1), "drop 0: 1");
  EXPECT_EQ(spread.next_tick(), 300ms);
  EXPECT_EQ(spread.ready(4), "") << "no further attempts while it is in doubt";
  EXPECT_EQ(spread.never_joined(2), "drop 0: 2");
  EXPECT_EQ(spread.wait(), "") << "3 may still join";
  EXPECT_EQ(spread.never_joined(3), "drop 0: 3");
  EXPECT_EQ(spread.wait(), "1 from here at 0; 2 from here at 0; 3 from here at 0; 4 directly");
  EXPECT_EQ(spread.ready(5), "5 directly");
  EXPECT_EQ(spread.source(5), "nothing works");
  EXPECT_EQ(spread.source(1), "nothing works 0");
  EXPECT_EQ(spread.source(0), "seed");
}

TEST(SpreadPlanFaults, DoesNotGiveUpAfterAConnectionHasWorked) {
  Spread spread(4);
  for (std::size_t host = 0; host < 4; ++host) spread.ready(host);
  spread.port(0);
  spread.port(0);
  EXPECT_EQ(spread.never_joined(1), "drop 0: 1");
  EXPECT_EQ(spread.joined(2), "");
  EXPECT_EQ(spread.wait(), "listen 2: 1");
  spread.port(2);
  EXPECT_EQ(spread.joined(1), "");
}

TEST(SpreadPlanFaults, DoesNotGiveUpBecauseOneIsRefusedBeforeAnotherHasJoined) {
  Spread spread(4);
  for (std::size_t host = 0; host < 4; ++host) spread.ready(host);
  spread.port(0);
  spread.port(0);
  EXPECT_EQ(spread.never_joined(1), "drop 0: 1");
  EXPECT_EQ(spread.wait(), "");
  EXPECT_EQ(spread.wait(), "");
  EXPECT_EQ(spread.joined(2), "");
  EXPECT_EQ(spread.wait(), "listen 2: 1");
}

TEST(SpreadPlanFaults, FeedsAHostThatFailsToJoinASecondParent) {
  Spread spread(4);
  spread.all_join(3);
  spread.ready(3);
  spread.port(0);
  spread.never_joined(3);
  EXPECT_EQ(spread.wait(), "listen 1: 3");
  spread.port(1);
  EXPECT_EQ(spread.never_joined(3), "drop 1: 3; 3 from here at 0");
  EXPECT_EQ(spread.source(3), "unreachable 1");
}

TEST(SpreadPlanFaults, KeepsAParentThatOthersCouldJoin) {
  Spread spread(6);
  spread.all_join(3);
  spread.ready(3);
  spread.port(0);
  spread.never_joined(3);
  spread.wait();
  EXPECT_EQ(spread.ready(4), "listen 0: 4");
}

TEST(SpreadPlanFaults, HangsTheHostsThatLostAParentOnTheOneFurthestBehind) {
  Spread spread(10, {.width = 4});
  spread.all_join(9);  // 1-4 are inner hosts, 5-8 their children
  ASSERT_EQ(spread.source(5), "1");
  EXPECT_EQ(spread.lost(3, 40_MiB), "drop 0: 3");
  spread.pass(100ms);
  EXPECT_EQ(spread.lost(1, 37_MiB), "drop 0: 1");
  spread.pass(100ms);
  EXPECT_EQ(spread.lost(4, 38_MiB), "drop 0: 4");
  EXPECT_EQ(spread.next_tick(), 100ms);
  EXPECT_EQ(spread.wait(), "1 from here at 37; listen 1: 3,4");
  EXPECT_EQ(spread.port(1), "3 from 1; 4 from 1");
  spread.joined(3);
  EXPECT_EQ(spread.source(1), "lost parent 0");
  EXPECT_EQ(spread.source(3), "1");
}

TEST(SpreadPlanFaults, LeavesAParentThatRefuses) {
  Spread spread(7, {.width = 2});
  spread.all_join(3);
  spread.ready(3);
  spread.port(1);
  spread.ready(4);
  spread.port(2);
  spread.joined(4);
  spread.ready(5);
  spread.port(1);
  EXPECT_EQ(spread.never_joined(3), "drop 1: 3");
  EXPECT_EQ(spread.never_joined(5), "drop 1: 5");
  EXPECT_EQ(spread.wait(), "3 from here at 0; listen 3: 5");
  EXPECT_EQ(spread.source(3), "unreachable 1");
  spread.port(3);
  EXPECT_EQ(spread.ready(6), "listen 3: 6");
}

/// Packets to the root of a star are dropped, after others could join it.
TEST(SpreadPlanFaults, SurvivesDroppedPackets) {
  Spread spread(6);
  spread.all_join(2);
  for (std::size_t host = 2; host < 6; ++host) spread.ready(host);
  spread.port(0);
  spread.port(0);
  spread.pass(2500ms);
  for (std::size_t host = 2; host < 6; ++host) spread.never_joined(host);
  EXPECT_EQ(spread.wait(), "2 from here at 0; listen 2: 3,4,5");
}

TEST(SpreadPlanFaults, LeavesAParentThatAltersABlock) {
  Spread spread(8, {.width = 3});
  spread.all_join(7);
  ASSERT_EQ(spread.source(4), "1");
  EXPECT_EQ(spread.lost(4, 7_MiB), "drop 1: 4");
  EXPECT_EQ(spread.wait(), "listen 2: 4") << "a single one tries another host first";
  EXPECT_EQ(spread.ready(7), "listen 3: 7") << "not the parent that altered it";
}

TEST(SpreadPlanFaults, LeavesASuspendedParent) {
  Spread spread(6, {.width = 2});
  spread.all_join(6);  // 1: 3, 5; 2: 4
  EXPECT_EQ(spread.dropped(0, 1), "drop 1: 3; drop 1: 5");
  EXPECT_EQ(spread.lost(3, 10_MiB), "");
  EXPECT_EQ(spread.lost(5, 11_MiB), "");
  EXPECT_EQ(spread.wait(), "5 from here at 11; listen 2: 3") << "2 has room for one, which goes first";
  EXPECT_EQ(spread.lost(1, 10_MiB), "drop 0: 1; 1 from here at 10") << "it wakes up";
  EXPECT_EQ(spread.source(1), "too slow 0");
}

TEST(SpreadPlanFaults, FeedsASlowLeafAlone) {
  Spread spread(4);
  spread.all_join(3);
  EXPECT_EQ(spread.dropped(0, 2), "");
  EXPECT_EQ(spread.lost(2, 5_MiB), "drop 0: 2; 2 from here at 5");
  EXPECT_EQ(spread.source(2), "too slow 0");
  EXPECT_EQ(spread.at(2, 6_MiB), "");
  EXPECT_EQ(spread.ready(3), "listen 0: 3") << "not the slow one";
}

TEST(SpreadPlanFaults, KnowsASlowLeafThatHasLostItsParentBefore) {
  Spread spread(3);
  spread.all_join(3);
  spread.lost(2, 5_MiB);
  EXPECT_EQ(spread.dropped(0, 2), "");
  EXPECT_EQ(spread.wait(), "2 from here at 5");
  EXPECT_EQ(spread.source(2), "too slow 0");
}

TEST(SpreadPlanFaults, IgnoresAChildThatWasDroppedForItsConnection) {
  Spread spread(3);
  spread.all_join(3);
  EXPECT_EQ(spread.on(event::Dropped{0, 2, false}), "");
  EXPECT_EQ(spread.lost(2, 5_MiB), "drop 0: 2");
  EXPECT_EQ(spread.wait(), "listen 1: 2");
}

TEST(SpreadPlanFaults, MakesASlowInnerHostALeaf) {
  Spread spread(8, {.width = 3});
  spread.all_join(7);  // 1: 4; 2: 5; 3: 6
  EXPECT_EQ(spread.gone(3), "drop 0: 3") << "which leaves room";
  EXPECT_EQ(spread.slow(1), "drop 1: 4");
  EXPECT_EQ(spread.lost(4, 20_MiB), "");
  EXPECT_EQ(spread.wait(), "listen 0: 4") << "the parent of the slow one";
  EXPECT_EQ(spread.port(0), "4 from 0");
  EXPECT_EQ(spread.ready(7), "listen 2: 7") << "not the slow one";
  EXPECT_EQ(spread.lost(1, 10_MiB), "drop 0: 1; 1 from here at 10");
  EXPECT_EQ(spread.source(1), "too slow 0");
}

TEST(SpreadPlanFaults, MovesTheChildrenOfASlowInnerHostToAnotherOne) {
  Spread spread(6, {.width = 2});
  spread.all_join(5);  // 1: 3; 2: 4
  EXPECT_EQ(spread.slow(1), "drop 1: 3");
  EXPECT_EQ(spread.never_joined(3, 20_MiB), "") << "it had just joined";
  EXPECT_EQ(spread.wait(), "listen 2: 3");
}

TEST(SpreadPlanFaults, MakesASlowSeedALeaf) {
  Spread spread(4);
  spread.all_join(3);
  EXPECT_EQ(spread.slow(0), "drop 0: 1; drop 0: 2");
  spread.lost(1, 33_MiB);
  spread.lost(2, 32_MiB);
  EXPECT_EQ(spread.wait(), "2 from here at 32; listen 2: 1") << "no move is possible";
}

TEST(SpreadPlanFaults, LeavesADeadRelay) {
  Spread spread(8, {.width = 2});
  spread.all_join(7);  // 1: 3, 5; 2: 4, 6
  EXPECT_EQ(spread.gone(1), "drop 0: 1");
  spread.at(0, 11_MiB);
  EXPECT_EQ(spread.lost(3, 8_MiB), "");
  EXPECT_EQ(spread.lost(5, 10_MiB), "");
  EXPECT_EQ(spread.wait(), "3 from here at 8; listen 3: 5") << "0 may be further than it has said";
}

TEST(SpreadPlanFaults, AsksAnotherWhenTheParentIsGoneBeforeItListens) {
  Spread spread(3);
  spread.ready(0);
  EXPECT_EQ(spread.ready(1), "listen 0: 1");
  EXPECT_EQ(spread.gone(0), "1 from here at 0");
  EXPECT_EQ(spread.source(1), "seed");
}

TEST(SpreadPlanFaults, FeedsEachHostAfterTooManySeeds) {
  Spread spread(5, {.most_seeds = 1});
  spread.all_join(3);
  spread.ready(3);
  spread.lost(1, 2_MiB);
  spread.lost(2, 3_MiB);
  EXPECT_EQ(spread.wait(), "1 from here at 2; 2 from here at 3; 3 directly")
      << "3 was not told yet to join the parent that has failed the others";
}

TEST(SpreadPlanFaults, FeedsAHostThatLosesOneParentAfterTheOther) {
  Spread spread(8);
  spread.all_join(8);
  for (const std::string drop : {"drop 0: 7", "drop 1: 7"}) {
    EXPECT_EQ(spread.lost(7, 1_MiB), drop);
    spread.wait();
    spread.port(drop == "drop 0: 7" ? 1 : 2);
    spread.joined(7);
  }
  EXPECT_EQ(spread.lost(7, 1_MiB), "drop 2: 7; 7 from here at 1");
}

/// The seed is suspended: the children of inner hosts lose patience at the same time as these.
TEST(SpreadPlanFaults, KeepsTheInnerHostsWhenAllLoseTheirParents) {
  Spread spread(21, {.width = 4});
  spread.all_join(21);
  for (std::size_t host = 20; host > 0; --host) spread.lost(host, 10_MiB);
  EXPECT_EQ(spread.wait(), "1 from here at 10; listen 1: 2,3,4,6");
  spread.port(1);
  EXPECT_EQ(spread.joined(2), "listen 2: 5,7,8,9");
}

TEST(SpreadPlanFaults, GivesHostsWithChildrenTheFirstChoice) {
  Spread spread(7, {.width = 2});
  for (const std::size_t host : std::initializer_list<std::size_t>{6, 5, 4, 3, 2, 1, 0})
    spread.joins(host);  // 5: 3, 1; 4: 2, 0
  for (const std::size_t host : std::initializer_list<std::size_t>{1, 2, 4, 5}) spread.lost(host, 10_MiB);
  EXPECT_EQ(spread.wait(), "1 from here at 10; listen 1: 4,5") << "which need a host that podrun feeds";
}

TEST(SpreadPlanFaults, GivesASeedNewChildrenBesidesItsOwn) {
  Spread spread(7, {.width = 2});
  spread.all_join(7);
  spread.lost(1, 10_MiB);
  spread.lost(2, 11_MiB);
  EXPECT_EQ(spread.wait(), "1 from here at 10; listen 1: 2");
}

TEST(SpreadPlanFaults, DoesNotMakeAHostWaitForOneFarBehind) {
  Spread spread(5);
  spread.all_join(2);
  spread.at(0, 500_MiB);
  spread.at(1, 500_MiB);
  spread.joins(2);
  spread.joins(3);
  ASSERT_EQ(spread.source(3), "2");
  spread.lost(1, 500_MiB);
  EXPECT_EQ(spread.wait(), "1 from here at 500") << "2 will be there much later";
}

TEST(SpreadPlanFaults, BelievesOnlyTheParentThatAChildIsSlow) {
  Spread spread(4);
  spread.all_join(3);
  EXPECT_EQ(spread.dropped(1, 2), "");
  EXPECT_EQ(spread.lost(2, 5_MiB), "drop 0: 2");
  EXPECT_EQ(spread.wait(), "listen 1: 2");
}

TEST(SpreadPlanFaults, TakesBackWhatItAskedForWhenItGivesUp) {
  Spread spread(3);
  for (std::size_t host = 0; host < 3; ++host) spread.ready(host);
  spread.port(0);
  spread.never_joined(1);
  EXPECT_EQ(spread.wait(), "1 from here at 0; 2 directly");
  EXPECT_EQ(spread.port(0), "");
}

TEST(SpreadPlanFaults, DoesNotMistakeANewAttemptForTheLostParent) {
  Spread spread(3);
  spread.all_join(3);
  spread.gone(0);
  EXPECT_EQ(spread.ready(0), "0 from here at 0");
  EXPECT_EQ(spread.lost(1, 5_MiB), "") << "no child of the new one";
}

TEST(SpreadPlanFaults, TakesAChildFromAParentThatSendsNothing) {
  Spread spread(4);
  spread.all_join(3);
  EXPECT_EQ(spread.stalled(1), "1 leaves");
  EXPECT_EQ(spread.lost(1, 5_MiB), "drop 0: 1");
  EXPECT_EQ(spread.wait(), "listen 2: 1");
  EXPECT_EQ(spread.port(2), "1 from 2");
  EXPECT_EQ(spread.ready(3), "listen 2: 3") << "not the parent that was left";
}

TEST(SpreadPlanFaults, TakesAChildFromAParentThatHasEnded) {
  Spread spread(3);
  spread.all_join(2);
  spread.done(0);
  EXPECT_EQ(spread.standing(1).parent, Parent::is_over);
  EXPECT_EQ(spread.stalled(1), "1 leaves");
  EXPECT_EQ(spread.lost(1, 5_MiB), "");
  EXPECT_EQ(spread.wait(), "1 from here at 5");
  EXPECT_EQ(spread.source(1), "lost parent 0");
}

TEST(SpreadPlanFaults, TellsAChildAgainToLeaveAParentThatDoesNotDropIt) {
  Spread spread(3);
  spread.all_join(3);
  EXPECT_EQ(spread.slow(0), "drop 0: 1; drop 0: 2");
  EXPECT_EQ(spread.standing(1).parent, Parent::is_over);
  EXPECT_EQ(spread.stalled(1), "1 leaves");
}

TEST(SpreadPlanFaults, LetsAHostThatPodrunFeedsLeaveNobody) {
  Spread spread(2);
  spread.ready(0);
  EXPECT_EQ(spread.stalled(0), "");
  EXPECT_EQ(spread.standing(0).parent, Parent::none);
}

TEST(SpreadPlanFaults, MakesNoParentWaitForAChildThatIsDone) {
  Spread spread(3);
  spread.all_join(2);
  EXPECT_EQ(spread.done(1), "drop 0: 1") << "whose connection may stay open";
}

TEST(SpreadPlanFaults, KnowsWhichParentCouldSend) {
  Spread spread(2);
  spread.all_join(2);
  spread.at(0, 4_MiB);
  EXPECT_EQ(spread.standing(1).parent, Parent::waits) << "it may just have got that";
  spread.at(0, 5_MiB);
  EXPECT_EQ(spread.standing(1).parent, Parent::is_ahead);
  spread.at(0, test::kSpreadSize);
  EXPECT_EQ(spread.standing(1).parent, Parent::has_all);
  EXPECT_TRUE(spread.standing(0).serves_others);
  spread.at(1, test::kSpreadSize);
  EXPECT_FALSE(spread.standing(0).serves_others);
}

TEST(SpreadPlanFaults, LetsTheHostThatHasTheFilesServeAtAnyPace) {
  Spread spread(2, {}, Spread::First::host);
  spread.ready_with_files(0);
  spread.joins(1);
  EXPECT_EQ(spread.standing(1).parent, Parent::is_ahead);
}

}  // namespace
}  // namespace podrun::transfer
