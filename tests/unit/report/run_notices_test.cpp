// SPDX-License-Identifier: Apache-2.0
#include "podrun/report/run_notices.hpp"

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/pod.hpp"

namespace podrun::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Losses : public testing::Test {
 protected:
  Losses() {
    on(run::event::Begin{});
    for (std::size_t host = 0; host < hosts_.size(); ++host) on(run::event::Ready{host});
    // A host that is lost before it printed anything ends the others.
    for (std::size_t host = 0; host < hosts_.size(); ++host) on(run::event::Spoke{host});
  }
  void on(const run::RunEvent& event) { policy_.on(event, now_); }
  void lose(std::size_t host) {
    on(run::event::LostHost{host, {link::Stage::running, link::Cause::other, "connection reset"}});
  }
  std::vector<std::string> said(const std::vector<std::size_t>& lost) const {
    return describe_losses(hosts_, policy_, lost);
  }

  const std::vector<hosts::Host> hosts_ = test::pod(3);
  const run::TimePoint now_{};
  run::RunPolicy policy_{hosts_.size(), {}, 0};
};

TEST_F(Losses, AreSaidWhileAnotherHostRuns) {
  lose(0);
  EXPECT_THAT(said({0}), ElementsAre("podrun: lost: [0] tpu-0: running: connection reset"));
  lose(1);
  EXPECT_THAT(said({0, 1}), ElementsAre("podrun: lost: [0,1] running: connection reset"));
}

TEST_F(Losses, AreLeftToTheFinalReportWhenNoOtherHostRuns) {
  for (const std::size_t host : {0U, 1U, 2U}) lose(host);
  EXPECT_THAT(said({0, 1, 2}), IsEmpty());
}

TEST_F(Losses, DoNotRepeatEarlierOnes) {
  lose(0);
  lose(1);
  EXPECT_THAT(said({1}), ElementsAre("podrun: lost: [1] tpu-1: running: connection reset"));
}

TEST_F(Losses, AreToldApartFromTheFirstFailedCommand) {
  on(run::event::Ended{1, link::Exited{3}});
  on(run::event::Closed{1});
  EXPECT_EQ(describe_first_failure(hosts_, policy_, 1),
            "podrun: [1] exit 3; 2 still running (-k stops the others at the first failure)");
  for (const std::size_t host : {0U, 2U}) lose(host);
  EXPECT_EQ(describe_first_failure(hosts_, policy_, 1), std::nullopt) << "the final report follows";
}

TEST(Retries, AreToldOfHostsThatAreStillNotReady) {
  run::RunPolicy policy(4, {}, 0);
  const run::TimePoint now{};
  policy.on(run::event::Begin{}, now);
  const link::Failure timed_out{.stage = link::Stage::connecting,
                                .cause = link::Cause::timed_out,
                                .retry = link::Retry::may_help,
                                .after = std::chrono::seconds(10)};
  for (const std::size_t host : {1U, 2U, 3U}) policy.on(run::event::NotReady{host, timed_out}, now);
  const link::Failure refused{link::Stage::connecting, link::Cause::refused, "", link::Retry::may_help};
  const std::map<std::size_t, link::Failure> failures{{1, timed_out}, {2, timed_out}, {3, refused}};
  EXPECT_THAT(describe_retries(test::pod(4), policy, failures, 3),
              ElementsAre("podrun: [1,2]: attempt 1 of 3: connecting: timed out after 10 s",
                          "podrun: [3] tpu-3: attempt 1 of 3: connecting: connection refused"));
  policy.on(run::event::Tick{}, now + std::chrono::seconds(5));
  for (const std::size_t host : {0U, 1U, 3U})
    policy.on(run::event::Ready{host}, now + std::chrono::seconds(5));
  EXPECT_THAT(describe_retries(test::pod(4), policy, failures, 0),
              ElementsAre("podrun: [2] tpu-2: attempt 1: connecting: timed out after 10 s"));
}

using Lines = std::vector<std::string>;

TEST(Lingering, NamesTheProcessesOfOneHost) {
  EXPECT_EQ(
      describe_lingering({{3, {{{"2734", "python3"}}}}}),
      Lines{"podrun: [3] command ended; pid 2734 (python3) still has its output open. Ctrl-C stops it; to "
            "leave it running, redirect its output (> log 2>&1)"});
  EXPECT_EQ(
      describe_lingering({{3, {{{"7", "sh"}, {"8", "\x1b"}}, 2}}}),
      Lines{
          "podrun: [3] command ended; pid 7 (sh), 8 (\\x1b) and 2 more still have their output open. Ctrl-C "
          "stops them; to leave them running, redirect their output (> log 2>&1)"});
}

TEST(Lingering, FoldsHostsThatAreAlike) {
  EXPECT_EQ(
      describe_lingering({{1, {{{"5", "python3"}}}},
                          {0, {{{"2734", "python3"}}}},
                          {7, {{{"100", "sleep"}, {"9", "sh"}}}},
                          {6, {{{"9", "sh"}, {"10", "cat"}}}}}),
      (Lines{"podrun: [0,1] command ended; python3 (pid 2734 on [0]) still has its output open. Ctrl-C stops "
             "it; to leave it running, redirect its output (> log 2>&1)",
             "podrun: [6,7] command ended; sh (pid 9 on [6]) and others still have their output open. Ctrl-C "
             "stops them; to leave them running, redirect their output (> log 2>&1)"}));
}

}  // namespace
}  // namespace podrun::report
