// SPDX-License-Identifier: Apache-2.0
// Another attempt at a host is a new one: nothing of the one before is left.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/run/fan_out.hpp"

#include "unit/run/fan_out_fixture.hpp"

namespace podrun::run {
namespace {

using namespace std::chrono_literals;
using test::FanOutTest;
using test::out;
using test::StreamEvents;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

const link::Failure kReset{link::Stage::connecting, link::Cause::reset, "", link::Retry::may_help};

class FanOutRetry : public FanOutTest {
 protected:
  void set_up(std::size_t count) {
    FanOutTest::set_up(count);
    plan_.limits.retry_delay = 2ms;
  }
};

TEST_F(FanOutRetry, ConnectsAgainWithANewLink) {
  set_up(2);
  hosts_[0].stumbles = {kReset, kReset};
  EXPECT_EQ(run(), "ok, ok");
  EXPECT_EQ(hosts_[0].attempts, 3U);
  EXPECT_EQ(hosts_[0].links, 1U) << "of the last attempt";
  EXPECT_EQ(hosts_[1].attempts, 1U);
  EXPECT_EQ(told(0), "go");
  EXPECT_THAT(hosts_[0].supervisor->command(), HasSubstr("PODRUN_RANK=0;"));
}

TEST_F(FanOutRetry, HoldsNoConnectionWhileItWaits) {
  set_up(2);
  plan_.limits.retry_delay = 1h;
  hosts_[0].stumbles = {kReset};
  begin();
  EXPECT_EQ(hosts_[0].links, 0U);
  EXPECT_EQ(told(1), "") << "not without the other one";
  interrupt(SIGINT);
  EXPECT_TRUE(done_) << "at once";
  EXPECT_EQ(outcomes(), "unreachable: connecting: connection reset, not started");
  EXPECT_EQ(status(), 130);
}

TEST_F(FanOutRetry, SaysHowOftenItTried) {
  set_up(2);
  hosts_[0].refuses = kReset;
  EXPECT_EQ(run(), "unreachable: connecting: connection reset (3 attempts), not started");
  EXPECT_EQ(hosts_[0].attempts, 3U);
  EXPECT_EQ(told(1), "");
  EXPECT_EQ(status(), 255);
}

TEST_F(FanOutRetry, TriesOnceWhatNoAttemptMayHelp) {
  set_up(1);
  hosts_[0].refuses = link::Failure{link::Stage::login, link::Cause::permission_denied};
  EXPECT_EQ(run(), "unreachable: login: permission denied");
  EXPECT_EQ(hosts_[0].attempts, 1U);
}

TEST_F(FanOutRetry, TriesAgainWhatTimedOut) {
  set_up(1);
  plan_.limits.connect_timeout = 0s;
  hosts_[0].connects = false;
  EXPECT_EQ(run(), "unreachable: connecting: timed out after 0 s (3 attempts)");
  EXPECT_EQ(hosts_[0].attempts, 3U);
}

TEST_F(FanOutRetry, HearsNothingMoreOfAnAttemptThatIsOver) {
  set_up(2);
  hosts_[1].greets = false;
  hosts_[0].noise = "one\n";
  hosts_[0].answers["go"] = {};
  begin();
  const auto old = hosts_[0].supervisor;
  old->say(link::Failure{link::Stage::ready, link::Cause::reset, "", link::Retry::may_help});
  ASSERT_TRUE(run_until([this] { return hosts_[0].attempts == 2; }));
  EXPECT_TRUE(old->stopped()) << "its supervisor has seen the end of its input";
  old->say(StreamEvents{out("late\n"), link::Exited{1}, link::Closed{}});
  run_what_is_due();
  hosts_[1].supervisor->greet("ready - - - - ");
  run_what_is_due();
  EXPECT_THAT(old->told(), IsEmpty());
  EXPECT_EQ(told(0), "go");
  hosts_[0].supervisor->say(StreamEvents{out("two\n"), link::Exited{0}, link::Closed{}});
  EXPECT_EQ(finish(), "ok, ok");
  EXPECT_THAT(lines(), ElementsAre("0 out: one", "0 out: one", "0 out: two"));
}

TEST_F(FanOutRetry, NeverTriesAgainOnceTheCommandWasToldToGo) {
  set_up(1);
  hosts_[0].answers["go"] = {
      link::Failure{link::Stage::running, link::Cause::reset, "", link::Retry::may_help}};
  EXPECT_EQ(run(), "lost: running: connection reset");
  EXPECT_EQ(hosts_[0].attempts, 1U);
}

TEST_F(FanOutRetry, NeverTriesAgainWhereTheCommandStartsWithItsSupervisor) {
  set_up(1);
  plan_.limits.connect_timeout = 0s;
  hosts_[0].greets = false;
  EXPECT_EQ(run(), "lost: starting /bin/sh: timed out after 0 s");
  EXPECT_EQ(hosts_[0].attempts, 1U);
}

TEST_F(FanOutRetry, PutsTheFilesThereAgain) {
  set_up(1);
  plan_.command.files = {{"command", "text"}};
  hosts_[0].runs_helpers = false;
  plan_.limits.connect_timeout = 1s;
  begin();
  ASSERT_TRUE(run_until([this] { return hosts_[0].stopped.has_value(); }));
  hosts_[0].runs_helpers = true;
  EXPECT_EQ(finish(), "ok");
  EXPECT_EQ(hosts_[0].attempts, 2U);
  EXPECT_EQ(hosts_[0].feeder->written(), "text");
}

TEST_F(FanOutRetry, StartsNothingBeforeAQuestionIsAnswered) {
  set_up(2);
  plan_.limits.on_unreachable = OnUnreachable::skip;
  plan_.limits.questions = Questions::can_be_asked;
  hosts_[0].refuses =
      link::Failure{link::Stage::host_key, link::Cause::host_key_unknown, "", link::Retry::after_asking};
  EXPECT_EQ(run(), "unreachable: host key: the host key is not known, not started");
  EXPECT_EQ(hosts_[0].attempts, 1U);
  EXPECT_EQ(told(1), "");
}

TEST_F(FanOutRetry, SkipsAHostWithAQuestionWhenNobodyCanBeAsked) {
  set_up(2);
  plan_.limits.on_unreachable = OnUnreachable::skip;
  hosts_[0].refuses =
      link::Failure{link::Stage::host_key, link::Cause::host_key_unknown, "", link::Retry::after_asking};
  EXPECT_EQ(run(), "unreachable: host key: the host key is not known, ok");
}

TEST_F(FanOutRetry, EndsAHostThatResumesAfterItsLastAttempt) {
  set_up(1);
  plan_.limits.on_unreachable = OnUnreachable::skip;
  plan_.limits.resumes = true;
  int times = 0;
  prepare_host_ = [&](std::size_t, supervisor::Supervised&) -> asio::awaitable<void> {
    if (++times <= 3) throw link::HostError(kReset);
    co_return;
  };
  EXPECT_EQ(run(), "ok");
  EXPECT_EQ(hosts_[0].attempts, 4U);
  EXPECT_THAT(ended_, ElementsAre(0));
}

TEST_F(FanOutRetry, SaysWhenItWillTryAgain) {
  set_up(1);
  plan_.verbosity = 1;
  plan_.limits.retries = 1;
  hosts_[0].refuses = kReset;
  run();
  EXPECT_THAT(said(),
              MatchesRegex("podrun: .0. tpu-0: connecting\n"
                           "podrun: .0. tpu-0: attempt 2 of 2 in 0.0 s .connecting: connection reset.\n"
                           "podrun: .0. tpu-0: connecting\n"
                           "podrun: .0. tpu-0: connecting: connection reset\n"));
}

}  // namespace
}  // namespace podrun::run
