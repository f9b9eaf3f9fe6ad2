// SPDX-License-Identifier: Apache-2.0
// Several runs in a row, over links that stay open between them.
#include <gtest/gtest.h>

#include "podrun/link/kept_links.hpp"
#include "podrun/run/fan_out.hpp"

#include "unit/run/fan_out_fixture.hpp"

namespace podrun::run {
namespace {

using namespace std::chrono_literals;
using test::FanOutTest;
using test::StreamEvents;

class FanOutKeptLinks : public FanOutTest {
 protected:
  FanOutKeptLinks() { connector_used_ = &kept_links_; }
  ~FanOutKeptLinks() override { fan_out_.reset(); }

  std::string run_again() {
    done_ = false;
    return run();
  }

 private:
  link::KeptLinks kept_links_{connector_};
};

TEST_F(FanOutKeptLinks, LogsInOnceForTwoRuns) {
  set_up(2);
  EXPECT_EQ(run(), "ok, ok");
  EXPECT_EQ(run_again(), "ok, ok");
  EXPECT_EQ(hosts_[0].logins, 1U);
  EXPECT_EQ(hosts_[1].logins, 1U);
  EXPECT_EQ(told(0), "go") << "a supervisor of its own";
}

TEST_F(FanOutKeptLinks, LogsInAgainWhereTheConnectionBroke) {
  set_up(2);
  EXPECT_EQ(run(), "ok, ok");
  hosts_[1].hangs_up = true;
  EXPECT_EQ(run_again(), "ok, ok");
  EXPECT_EQ(hosts_[0].logins, 1U);
  EXPECT_EQ(hosts_[1].logins, 2U);
}

TEST_F(FanOutKeptLinks, LogsInAgainWhereOnlyTheNextProgramShowsThatTheConnectionBroke) {
  set_up(1);
  EXPECT_EQ(run(), "ok");
  hosts_[0].hangs_up_unnoticed = true;
  EXPECT_EQ(run_again(), "ok");
  EXPECT_EQ(hosts_[0].logins, 2U);
}

TEST_F(FanOutKeptLinks, KeepsTheConnectionOfARunThatWasCancelled) {
  set_up(2);
  hosts_[1].refuses = link::Failure{link::Stage::login, link::Cause::permission_denied};
  EXPECT_EQ(run(), "not started, unreachable: login: permission denied");
  hosts_[1].refuses.reset();
  EXPECT_EQ(run_again(), "ok, ok");
  EXPECT_EQ(hosts_[0].logins, 1U);
}

TEST_F(FanOutKeptLinks, KeepsNoConnectionThatOwesAnAnswer) {
  set_up(2);
  hosts_[0].starts_programs = false;
  plan_.limits.connect_timeout = 1s;
  plan_.limits.retries = 0;
  EXPECT_EQ(run(), "unreachable: starting /bin/sh: timed out after 1 s, not started");
  hosts_[0].starts_programs = true;
  EXPECT_EQ(run_again(), "ok, ok");
  EXPECT_EQ(hosts_[0].logins, 2U);
  EXPECT_EQ(hosts_[1].logins, 1U);
}

TEST_F(FanOutKeptLinks, EndsACommandThatIsToldToEnd) {
  set_up(1);
  hosts_[0].answers["go"] = {};
  begin();
  interrupt(SIGINT);
  interrupt(SIGINT);
  EXPECT_EQ(finish(), "stopped by podrun");
  hosts_[0].answers["go"] = {link::Exited{0}, link::Closed{}};
  EXPECT_EQ(run_again(), "ok");
  EXPECT_EQ(hosts_[0].logins, 1U);
}

}  // namespace
}  // namespace podrun::run
