// SPDX-License-Identifier: Apache-2.0
#include "podrun/transfer/spread/spread_watch.hpp"

#include <gtest/gtest.h>

namespace podrun::transfer {
namespace {

using namespace std::chrono_literals;
using Look = SpreadWatch::Look;
using Parent = SpreadStanding::Parent;
using Verdict = SpreadWatch::Verdict;

/// A host that is looked at each second.
struct Watched {
  SpreadWatch watch{SpreadWatch::Limits{}};
  Look host{.host = 1, .owes = true};

  /// The seconds until it gets this verdict; -1: not within an hour.
  int until(Verdict verdict) {
    for (int second = 1; second <= 3600; ++second) {
      if (watch.look(host, 1s) == verdict) return second;
    }
    return -1;
  }
  Verdict after(std::chrono::seconds time) {
    Verdict verdict = Verdict::fine;
    for (; time > 0s; time -= 1s) verdict = watch.look(host, 1s);
    return verdict;
  }
};

TEST(SpreadWatch, TakesAHostThatOwesProgressForSilentAfterAMinute) {
  Watched watched;
  EXPECT_EQ(watched.until(Verdict::is_silent), 60);
}

TEST(SpreadWatch, WaitsForeverForAHostThatWaitsForOthers) {
  Watched watched{.host = {.host = 1, .parent = Parent::waits}};
  EXPECT_EQ(watched.until(Verdict::is_silent), -1);
}

TEST(SpreadWatch, BeginsAnewWithAnyProgress) {
  Watched watched;
  EXPECT_EQ(watched.after(59s), Verdict::fine);
  watched.host.progress[0] = 1;
  EXPECT_EQ(watched.after(59s), Verdict::fine);
  EXPECT_EQ(watched.after(2s), Verdict::is_silent);
}

TEST(SpreadWatch, AllowsMoreTimeForALargeDigest) {
  Watched watched{.host = {.host = 1, .owes = true, .allowance = 100s}};
  EXPECT_EQ(watched.until(Verdict::is_silent), 160);
}

TEST(SpreadWatch, LetsAChildLeaveASilentParentThatIsAhead) {
  Watched watched{.host = {.host = 1, .owes = true, .parent = Parent::is_ahead}};
  EXPECT_EQ(watched.until(Verdict::leave_parent), 10);
  EXPECT_EQ(watched.until(Verdict::leave_parent), 10) << "once more, if it stays";
  EXPECT_EQ(watched.until(Verdict::is_silent), 40) << "then it is the child that is silent";
}

TEST(SpreadWatch, LeavesNoParentThatWaitsItself) {
  Watched watched{.host = {.host = 1, .owes = true, .parent = Parent::waits}};
  EXPECT_EQ(watched.until(Verdict::leave_parent), -1);
}

TEST(SpreadWatch, LeavesAParentThatHasEndedAndSendsABlockNowAndThen) {
  Watched watched{.host = {.host = 1, .owes = true, .parent = Parent::is_over}};
  for (int second = 0; second < 10; ++second) {
    ++watched.host.progress[0];
    EXPECT_EQ(watched.after(1s), Verdict::fine);
  }
  ++watched.host.progress[0];
  EXPECT_EQ(watched.after(1s), Verdict::leave_parent);
}

TEST(SpreadWatch, LeavesAParentThatHasAllAndTakesLongForTheRest) {
  Watched watched{.host = {.host = 1, .owes = true, .parent = Parent::has_all}};
  int seconds = 0;
  do {
    ++watched.host.progress[0];
    ++seconds;
  } while (watched.after(1s) == Verdict::fine && seconds < 3600);
  EXPECT_EQ(seconds, 61);
}

TEST(SpreadWatch, DoesNotCountTheTimeInWhichPodrunIsSuspended) {
  Watched watched{.host = {.host = 1, .owes = true, .parent = Parent::is_ahead}};
  EXPECT_EQ(watched.watch.look(watched.host, 1h), Verdict::fine);
  EXPECT_EQ(watched.watch.look(watched.host, 1h), Verdict::fine);
}

TEST(SpreadWatch, ForgetsAnEarlierAttempt) {
  Watched watched;
  watched.after(59s);
  watched.watch.forget(1);
  EXPECT_EQ(watched.until(Verdict::is_silent), 60);
}

TEST(SpreadWatch, HasLimitsThatFollowTheConnectTimeout) {
  EXPECT_EQ(SpreadWatch::limits_for(10s).leave, 10s);
  EXPECT_EQ(SpreadWatch::limits_for(10s).silent, 60s);
  EXPECT_EQ(SpreadWatch::limits_for(1s).silent, 30s);
  EXPECT_EQ(SpreadWatch::limits_for(60s).silent, 360s);
}

}  // namespace
}  // namespace podrun::transfer
