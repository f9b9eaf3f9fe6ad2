// SPDX-License-Identifier: Apache-2.0
#include "podrun/report/status_line_words.hpp"

#include <chrono>
#include <csignal>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace podrun::report {
namespace {

using run::HostStatus;
using run::Rate;
using run::Status;
using run::TimePoint;
using State = run::RunPolicy::State;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr link::StageWords kCopying{.identifier = "copying", .words = "copying", .doing = "copying"};

class StatusTest : public testing::Test {
 protected:
  /// Hosts that have been in this state for a time.
  void set_up(std::size_t count, State state = State::running, int silent_seconds = 0) {
    hosts_.resize(count);
    status_.hosts.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      hosts_[i].worker = i;
      hosts_[i].name = fmt::format("tpu-{}", i);
      status_.hosts[i].host = &hosts_[i];
      set(i, state, silent_seconds);
    }
  }
  void set(std::size_t host, State state, int silent_seconds = 0) {
    status_.hosts[host].state = state;
    status_.hosts[host].since = now_ - seconds(silent_seconds);
    status_.hosts[host].tried_since = status_.hosts[host].since;
  }
  void fail(std::size_t host) {
    status_.hosts[host].state = State::done;
    status_.hosts[host].failed = true;
  }
  std::string text(std::uint64_t bytes_per_second = 0) { return text_in(1000, bytes_per_second); }
  std::string text_in(std::size_t cells, std::uint64_t bytes_per_second = 0) {
    return output::compose_status(status_text(status_, bytes_per_second, now_), std::nullopt,
                                  output::Charset::utf8, cells);
  }
  std::string text_of_rate(std::uint64_t bytes_per_second) {
    status_.bytes = 1;
    const std::string all = text(bytes_per_second);
    return all.substr(all.rfind("· ") + std::string("· ").size());
  }
  void set_copying(std::size_t host, int silent_seconds = 0) {
    set(host, State::connecting, silent_seconds);
    status_.hosts[host].stage = kCopying;
  }
  std::vector<std::string> list() { return status_list(status_, now_); }

  const TimePoint now_ = TimePoint() + seconds(1'000'000);
  std::vector<hosts::Host> hosts_;
  Status status_{.grace = seconds(10), .attempts = 3};
};

TEST(TransferSum, NamesAHostThatIsFarBehindTheOthersThatCopy) {
  run::TransferSum sum;
  sum.add(0, 90, 100);
  sum.add(1, 80, 100);
  sum.add(2, 0, 0);
  EXPECT_EQ(sum.status().slowest, std::nullopt);
  sum.add(7, 10, 100);
  EXPECT_EQ(sum.status().slowest, 7U);
  EXPECT_EQ(sum.status().slowest_percent, 10U);
  EXPECT_EQ(sum.status().done, 180U);
  EXPECT_EQ(sum.status().total, 300U);
}

TEST_F(StatusTest, ShowsHowFarTheCopyingHasCome) {
  set_up(3, State::ready);
  set_copying(0, 60);
  set_copying(1, 60);
  status_.transfer = run::TransferStatus{.done = 1'200'000, .total = 3'400'000, .is_total_known = true};
  EXPECT_EQ(text(100'000), "2 copying · 1 ready · 1.2 MB of 3.4 MB · 100 kB/s · 23 s left");
  status_.transfer->left = seconds(90);
  EXPECT_EQ(text(100'000), "2 copying · 1 ready · 1.2 MB of 3.4 MB · 100 kB/s · 90 s left")
      << "of the slowest host";
  status_.transfer->left.reset();
  status_.transfer->slowest = 1;
  status_.transfer->slowest_percent = 34;
  status_.transfer->is_total_known = false;
  EXPECT_EQ(text(0), "2 copying · 1 ready · 1.2 MB of 3.4 MB · slowest [1] 34 %");
  status_.transfer->slowest_source = 2;
  EXPECT_EQ(text(0), "2 copying · 1 ready · 1.2 MB of 3.4 MB · slowest [1] 34 % from [2]");
  status_.transfer->slowest.reset();
  status_.transfer->hint = "--this helps";
  EXPECT_EQ(text(0), "2 copying · 1 ready · 1.2 MB of 3.4 MB · --this helps");
  status_.transfer = run::TransferStatus{};
  EXPECT_EQ(text(0), "2 copying · 1 ready");
}

TEST_F(StatusTest, CountsWhatRunsWhatIsDoneAndWhatHasFailed) {
  set_up(32);
  for (const std::size_t host : {0U, 1U, 2U}) set(host, State::done);
  fail(7);
  set(12, State::running, 94);
  status_.bytes = 10'000'000;
  EXPECT_EQ(text(1'230'000), "28 running · 3 done · 1 failed [7] · slowest [12] silent 94 s · 1.2 MB/s");
}

TEST_F(StatusTest, TellsHowTheStartGoesOn) {
  set_up(10, State::ready);
  set(0, State::connecting);
  set(1, State::connecting);
  set(9, State::waiting);
  EXPECT_EQ(text(), "2 connecting [0,1] · 7 ready · 1 waiting");
  fail(3);
  EXPECT_EQ(text(), "2 connecting [0,1] · 6 ready · 1 failed [3] · 1 waiting");
  status_.hosts[9].attempt = 2;  // it is not only its turn that it waits for
  EXPECT_EQ(output::compose_status(status_counts(status_), std::nullopt, output::Charset::utf8, 1000),
            "2 connecting [0,1] · 6 ready · 1 failed [3] · 1 waiting [9]");
}

TEST_F(StatusTest, CountsTheAttemptsOfHostsThatDoNotAnswer) {
  set_up(8, State::ready);
  set(7, State::connecting);
  status_.hosts[7].tried_since = now_ - seconds(4);
  EXPECT_EQ(text(), "1 connecting [7] · 7 ready");
  status_.hosts[7].tried_since = now_ - seconds(6);
  EXPECT_EQ(text(), "1 connecting · 7 ready · [7] tpu-7: attempt 1 of 3, 6 s");
  status_.hosts[7].tried_since = now_ - seconds(14);
  status_.hosts[7].attempt = 2;
  set(5, State::waiting);
  status_.hosts[5].tried_since = now_ - seconds(1);
  status_.hosts[5].attempt = 2;
  EXPECT_EQ(text(),
            "1 connecting · 6 ready · 1 waiting · [5] tpu-5: attempt 2 of 3, 1 s · "
            "[7] tpu-7: attempt 2 of 3, 14 s");
  EXPECT_EQ(text_in(80), "1 connecting · 6 ready · 1 waiting · [5] tpu-5: attempt 2 of 3, 1 s");
  status_.attempts = 0;  // --wait
  set(5, State::ready);
  EXPECT_EQ(text(), "1 connecting · 7 ready · [7] tpu-7: attempt 2, 14 s");
}

TEST_F(StatusTest, TellsOfTheAttemptsOfManyHostsTogether) {
  set_up(64, State::connecting);
  for (std::size_t host = 0; host < 64; ++host)
    status_.hosts[host].tried_since = now_ - seconds(host < 60 ? 14 : 11);
  status_.hosts[3].attempt = 2;
  EXPECT_EQ(text(), "64 connecting · [0-63] attempt 2 of 3, up to 14 s");
}

TEST_F(StatusTest, CountsAHostAsDoneWhenItsCommandIs) {
  set_up(3);
  set(0, State::closing);
  set(1, State::stopping);
  EXPECT_EQ(
      status_counts(status_),
      (output::StatusText{{"1 running [2]", "1 running"}, {"1 stopping [1]", "1 stopping"}, {"1 done"}}));
}

TEST_F(StatusTest, NamesHostsWhoseCommandLeftTheOutputOpen) {
  set_up(4);
  set(1, State::lingering);
  set(2, State::lingering);
  status_.hosts[2].failed = true;
  set(3, State::done);
  EXPECT_EQ(text(), "1 running [0] · 2 command ended, output open [1,2] · 1 done · 1 failed [2]");
  EXPECT_EQ(interrupt_line(status_, SIGINT),
            "podrun: interrupted 3 hosts (Ctrl-C again: TERM, and KILL after 10 s)");
  EXPECT_EQ(list(), (std::vector<std::string>{
                        "podrun: [0] tpu-0: running",
                        "podrun: [1] tpu-1, [2] tpu-2: command ended, output open",
                    }));
  set(0, State::done);
  status_.presses = 1;
  EXPECT_EQ(text(),
            "2 command ended, output open [1,2] · interrupted (Ctrl-C again: TERM, and KILL after 10 s) · "
            "2 done · 1 failed [2]");
  EXPECT_EQ(leave_line(status_, now_), "podrun: exited; these hosts stop the command themselves: [1,2]");
}

TEST_F(StatusTest, HasNothingToSayWhenAllHaveEnded) {
  set_up(3, State::done);
  fail(1);
  EXPECT_EQ(text(), "");
}

TEST_F(StatusTest, NamesTheRemainingHostsAfterAnInterruptAndWhatTheNextOneDoes) {
  set_up(8);
  for (const std::size_t host : {0U, 1U, 2U, 4U, 5U}) set(host, State::done);
  fail(6);
  status_.presses = 1;
  EXPECT_EQ(
      text(),
      "2 running [3,7] · interrupted (Ctrl-C again: TERM, and KILL after 10 s) · 5 done · 1 failed [6]");
  EXPECT_EQ(text_in(40), "2 running [3,7] · interrupted · 5 done");
  EXPECT_EQ(text_in(12), "2 running");
}

TEST_F(StatusTest, TellsWhenTheHostsThatAreEndingAreKilled) {
  set_up(8, State::done);
  status_.presses = 2;
  set(3, State::stopping);
  set(7, State::stopping);
  status_.hosts[3].kill_at = now_ + seconds(9);
  status_.hosts[7].kill_at = now_ + milliseconds(6001);
  EXPECT_EQ(text(), "2 stopping [3,7] · KILL in 7 s (Ctrl-C: exit at once) · 6 done");
  EXPECT_EQ(text_in(40), "2 stopping [3,7] · KILL in 7 s · 6 done");
  status_.hosts[7].kill_at = now_;
  EXPECT_EQ(text(), "2 stopping [3,7] · KILL due (Ctrl-C: exit at once) · 6 done");
  status_.presses = 0;
  EXPECT_EQ(text(), "2 stopping [3,7] · KILL due (Ctrl-C twice: exit at once) · 6 done")
      << "it is no second press";
}

TEST_F(StatusTest, SaysWhatASignalDid) {
  set_up(3);
  set(2, State::done);
  status_.presses = 1;
  EXPECT_EQ(interrupt_line(status_, SIGINT),
            "podrun: interrupted 2 hosts (Ctrl-C again: TERM, and KILL after 10 s)");
  EXPECT_EQ(interrupt_line(status_, SIGQUIT), "podrun: sent QUIT to 2 hosts");
  EXPECT_EQ(interrupt_line(status_, SIGPIPE), "");
  set(0, State::stopping);
  set(1, State::done);
  status_.presses = 2;
  EXPECT_EQ(interrupt_line(status_, SIGTERM),
            "podrun: stopping 1 host: TERM, and KILL after 10 s (Ctrl-C again: exit at once)");
  set(0, State::closing);
  EXPECT_EQ(interrupt_line(status_, SIGINT), "");
}

TEST_F(StatusTest, KnowsWhenOnlyAReaderIsWaitedFor) {
  set_up(2, State::done);
  EXPECT_TRUE(only_output_is_left(status_));
  set(1, State::closing);
  EXPECT_FALSE(only_output_is_left(status_)) << "something there holds its output open";
  status_.hosts[1].reading_paused = true;
  EXPECT_TRUE(only_output_is_left(status_));
  for (const State state :
       {State::waiting, State::connecting, State::ready, State::running, State::lingering, State::stopping}) {
    set(1, state);
    EXPECT_FALSE(only_output_is_left(status_));
  }
}

TEST_F(StatusTest, SaysWhatStillRunsWhenPodrunExitsAtOnce) {
  set_up(8, State::done);
  EXPECT_EQ(leave_line(status_, now_), "podrun: exited before all output had arrived");
  set(3, State::stopping);
  set(7, State::stopping);
  status_.hosts[3].kill_at = status_.hosts[7].kill_at = now_ + seconds(10);
  EXPECT_EQ(leave_line(status_, now_),
            "podrun: exited; these hosts are still stopping the command: [3,7] (KILL in 10 s)");
  EXPECT_EQ(leave_line(status_, now_ + seconds(11)),
            "podrun: exited; these hosts are still stopping the command: [3,7] (KILL due)");
  set(5, State::running);  // it was not told to end, but the connection does
  EXPECT_EQ(leave_line(status_, now_), "podrun: exited; these hosts stop the command themselves: [5]");
}

TEST_F(StatusTest, FoldsAndCutsTheWorkersThatHaveFailed) {
  set_up(100);
  for (std::size_t host = 10; host < 20; ++host) fail(host);
  EXPECT_EQ(text(), "90 running · 10 failed [10-19]");
  for (std::size_t host = 30; host < 90; host += 2) fail(host);
  EXPECT_EQ(text(), "60 running · 40 failed [10-19,30,32,34,36,38,40,...]");
  EXPECT_EQ(output::compose_status(status_counts(status_), std::nullopt, output::Charset::utf8, 30),
            "60 running · 40 failed");
}

TEST_F(StatusTest, NamesTheHostThatIsSilentWhileOthersAreNot) {
  set_up(4, State::running, 1);
  set(2, State::running, 4);
  EXPECT_EQ(text(), "4 running");
  set(2, State::running, 5);
  EXPECT_EQ(text(), "4 running · slowest [2] silent 5 s");
  set(2, State::running, 150);
  EXPECT_EQ(text(), "4 running · slowest [2] silent 2 min");
  set(2, State::running, 3 * 3600);
  EXPECT_EQ(text(), "4 running · slowest [2] silent 3 h");
}

TEST_F(StatusTest, NamesNoHostWhereAllAreAsSilent) {
  set_up(4, State::running, 9);
  EXPECT_EQ(text(), "4 running");
  set_up(4, State::running, 12);
  set(1, State::running, 13);
  EXPECT_EQ(text(), "4 running · silent 12 s");
  set(1, State::running, 60);
  EXPECT_EQ(text(), "4 running · slowest [1] silent 60 s");
  set_up(1, State::running, 12);
  EXPECT_EQ(text(), "1 running · silent 12 s");
}

TEST_F(StatusTest, IgnoresTheSilenceOfPausedAndEndedHosts) {
  set_up(4, State::running, 1);
  set(1, State::running, 100);
  status_.hosts[1].reading_paused = true;
  set(2, State::done, 100);
  EXPECT_EQ(text(), "3 running · 1 done");
}

TEST_F(StatusTest, TellsBytesASecondWhenThereHaveBeenAny) {
  set_up(1);
  EXPECT_EQ(text(0), "1 running");
  status_.bytes = 1;
  EXPECT_EQ(text(0), "1 running · 0 B/s");
  EXPECT_EQ(text_of_rate(999), "999 B/s");
  EXPECT_EQ(text_of_rate(1000), "1.0 kB/s");
  EXPECT_EQ(text_of_rate(9'940), "9.9 kB/s");
  EXPECT_EQ(text_of_rate(12'345), "12 kB/s");
  EXPECT_EQ(text_of_rate(999'600), "1.0 MB/s");
  EXPECT_EQ(text_of_rate(5'000'000'000), "5.0 GB/s");
}

TEST_F(StatusTest, MeasuresTheRateOfTheLastTwoSeconds) {
  Rate rate;
  EXPECT_EQ(rate.per_second(), 0);
  rate.count(1000, now_);
  EXPECT_EQ(rate.per_second(), 0);
  rate.count(1500, now_ + milliseconds(500));
  EXPECT_EQ(rate.per_second(), 1000);
  for (int ms = 600; ms <= 2600; ms += 100) rate.count(1500, now_ + milliseconds(ms));
  EXPECT_EQ(rate.per_second(), 0) << "it was longer ago";
}

TEST_F(StatusTest, ListsHostsWithTheSameActivityTogether) {
  set_up(6, State::done);
  set(0, State::running, 2);
  set(1, State::running, 200);
  status_.hosts[1].reading_paused = true;
  set(3, State::running);
  set(2, State::connecting, 3);
  status_.hosts[2].stage = link::Stage::starting_shell;
  status_.hosts[2].attempt = 2;
  set(4, State::stopping, 1);
  status_.hosts[4].reading_paused = true;
  status_.hosts[4].kill_at = now_ + seconds(7);
  hosts_[4].name = "bad\x1b[31mname";
  EXPECT_EQ(list(), (std::vector<std::string>{
                        "podrun: [2] tpu-2: attempt 2 of 3, starting /bin/sh for 3 s",
                        "podrun: [0,3] running, silent for up to 2 s",
                        "podrun: [1] tpu-1: running, output paused (its reader is slow)",
                        "podrun: [4] bad\\x1b[31mname: stopping, KILL in 7 s, silent for 1 s",
                    }));
}

TEST_F(StatusTest, ListsManyHostsTogetherWhereTheyAreAlike) {
  set_up(64);
  for (std::size_t host = 0; host < 64; ++host) set(host, State::running, static_cast<int>(host % 4));
  set(12, State::running, 94);
  set(13, State::running, 120);
  set(20, State::running, 7);
  set(40, State::closing, 1);
  set(41, State::done);
  EXPECT_EQ(list(), (std::vector<std::string>{
                        "podrun: [0-11,14-19,21-39,42-63] running, silent for up to 3 s",
                        "podrun: [20] tpu-20: running, silent for 7 s",
                        "podrun: [12,13] running, silent for 94 s to 2 min",
                        "podrun: [40] tpu-40: ended, its output is still open for 1 s",
                    }));
}

TEST_F(StatusTest, ListsThoseThatHaveNotStarted) {
  set_up(12, State::waiting);
  set(0, State::ready, 4);
  set(1, State::connecting, 1);
  status_.hosts[1].stage = link::Stage::connecting;
  status_.hosts[11].attempt = 2;
  EXPECT_EQ(list(), (std::vector<std::string>{
                        "podrun: [11] tpu-11: waiting for attempt 2 of 3",
                        "podrun: [2-10] waiting for its turn",
                        "podrun: [1] tpu-1: connecting for 1 s",
                        "podrun: [0] tpu-0: ready, waiting for the others for 4 s",
                    }));
}

TEST_F(StatusTest, SaysSoWhenNoHostIsLeft) {
  set_up(2, State::done);
  EXPECT_EQ(list(), std::vector<std::string>{"podrun: every host has ended"});
}

}  // namespace
}  // namespace podrun::report
