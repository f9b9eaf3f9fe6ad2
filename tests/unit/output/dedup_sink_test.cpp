// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/dedup/dedup_sink.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "unit/output/pipe.hpp"

namespace podrun::output {
namespace {

using namespace std::chrono_literals;

const std::string kWhy = "(others had printed them, so they are not shown again)\n";

class DedupSinkTest : public testing::Test {
 protected:
  void start(std::size_t hosts, const View& view = {}, Same same = Same::bytes,
             const DedupLimits& limits = {}) {
    std::vector<hosts::Host> all(hosts);
    for (std::size_t i = 0; i < hosts; ++i) {
      all[i].worker = i;
      all[i].name = "tpu-" + std::to_string(i);
    }
    sink_ = make_dedup_sink(all, view, {.same = same}, limits, terminal_);
    sink_->tick(now_);
  }
  void say(std::size_t first, std::size_t last, std::string_view text, StreamId stream = StreamId::out,
           LineEnd end = LineEnd::newline) {
    for (std::size_t host = first; host <= last; ++host) sink_->line({host, stream, text, end});
  }
  void wait(std::chrono::milliseconds time) { sink_->tick(now_ += time); }
  Sink& sink() { return *sink_; }
  Sink::TimePoint now() const { return now_; }

  /// The text on stdout, a bar, and the text on stderr.
  std::string finish() {
    sink_->finish();
    terminal_.flush();
    out_.close_write();
    err_.close_write();
    return out_.read_to_end() + "|" + err_.read_to_end();
  }

 private:
  test::Pipe out_;
  test::Pipe err_;
  Terminal terminal_{out_.write_fd(), err_.write_fd()};
  std::unique_ptr<Sink> sink_;
  Sink::TimePoint now_{1h};
};

TEST_F(DedupSinkTest, LabelsLinesWithTheHostsThatSaidThem) {
  start(8);
  say(0, 2, "loss 2.31");
  say(7, 7, "loss 2.31");
  say(4, 6, "loss 2.32");
  say(3, 3, "loss nan", StreamId::err);
  say(0, 7, "step 101");
  EXPECT_EQ(finish(), "[0-2,7]: loss 2.31\n[4-6]: loss 2.32\nall: step 101\n|[3]: loss nan\n");
}

TEST_F(DedupSinkTest, ComparesTheTwoStreamsSeparately) {
  start(2);
  say(0, 0, "x");
  say(1, 1, "x", StreamId::err);
  say(0, 0, "y", StreamId::err);
  say(1, 1, "y");
  EXPECT_EQ(finish(), "[0]: x\n[1]: y\n|[1]: x\n[0]: y\n");
}

TEST_F(DedupSinkTest, NamesASingleHostWhereNamesAreWanted) {
  start(3, {.label = Label::both});
  say(1, 1, "mine");
  say(1, 2, "ours");
  say(0, 2, "all's");
  EXPECT_EQ(finish(), "1 tpu-1: mine\n[1,2]: ours\nall: all's\n|");
}

TEST_F(DedupSinkTest, KnowsHowAHostCallsItself) {
  start(2, {}, Same::log_line);
  EXPECT_TRUE(sink().wants_names());
  sink().host_named(0, {"gpu-a", "10.0.0.7"});
  sink().host_named(1, {"gpu-b.cluster", "10.0.0.9"});
  say(0, 0, "listening on gpu-a:8476 (10.0.0.7)");
  say(1, 1, "listening on gpu-b:8476 (10.0.0.9)");
  say(0, 1, "coordinator: 10.0.0.7");
  EXPECT_EQ(finish(), "all: listening on {host}:8476 ({host})\nall: coordinator: 10.0.0.7\n|");
}

TEST_F(DedupSinkTest, ShowsNoLabelWithoutLabels) {
  start(2, {.label = Label::none});
  say(0, 1, "a");
  say(1, 1, "b");
  EXPECT_EQ(finish(), "a\nb\n|");
}

TEST_F(DedupSinkTest, OneHostAloneIsNotAll) {
  start(1);
  say(0, 0, "a");
  EXPECT_EQ(finish(), "[0]: a\n|");
}

TEST_F(DedupSinkTest, ColorsFewHostsAndDimsMost) {
  start(5, {.color = {Color::on, Color::on}});
  say(0, 4, "a");
  say(1, 3, "b");
  say(2, 3, "c");
  say(4, 4, "d", StreamId::err);
  EXPECT_EQ(finish(),
            "\x1b[0;2mall:\x1b[0m a\n\x1b[0;2m[1-3]:\x1b[0m b\n\x1b[0;32m[2,3]:\x1b[0m c\n"
            "|\x1b[0;1;34m[4]:\x1b[0m d\n");
}

TEST_F(DedupSinkTest, ComparesWhatStaysOfAProgressBar) {
  start(2, {.bars = {Bars::fold, Bars::keep}});
  say(0, 0, "10%\r100%");
  say(1, 1, "20%\r100%");
  EXPECT_EQ(finish(), "all: 100%\n|");
}

TEST_F(DedupSinkTest, ComparesLogsWithoutTheirClocks) {
  start(2, {}, Same::log_line);
  say(0, 0, "2026-11-21 13:00:01,123 - train - INFO - loss 2.31");
  say(1, 1, "2026-11-21 13:00:02,456 - train - INFO - loss 2.31");
  EXPECT_EQ(finish(), "all: 2026-11-21 13:00:01,123 - train - INFO - loss 2.31\n|");
}

TEST_F(DedupSinkTest, SaysThatALineComesInPieces) {
  start(2);
  for (const std::size_t host : {0U, 1U}) {
    say(host, host, std::string(1024, 'x'), StreamId::out, LineEnd::piece);
    say(host, host, "y");
  }
  const std::string x(1024, 'x');
  EXPECT_EQ(finish(), "[0]: " + x + "\n[0]: y\n[1]: " + x +
                          "\n[1]: y\n|podrun: [0] a line of stdout is longer than 1 KiB: shown in pieces\n"
                          "podrun: [1] a line of stdout is longer than 1 KiB: shown in pieces\n");
}

TEST_F(DedupSinkTest, AsksForATickWhenAWindowIsOver) {
  start(2);
  EXPECT_EQ(sink().next_tick(), Sink::TimePoint::max());
  say(0, 0, "a");
  EXPECT_EQ(sink().next_tick(), now() + 500ms);
}

TEST_F(DedupSinkTest, NamesTheHostsThatWereLate) {
  start(3);
  say(0, 1, "a");
  wait(500ms);
  wait(4200ms);
  say(2, 2, "a");
  EXPECT_EQ(finish(), "[0,1]: a\n|podrun: late: [2] 1 line, up to 4.2 s behind " + kWhy);
}

TEST_F(DedupSinkTest, TellsTheLatestFromThoseHardlyLate) {
  start(4);
  for (const char* const text : {"a", "b"}) say(0, 0, text);
  wait(500ms);
  wait(40ms);
  say(1, 2, "a");
  wait(3s);
  say(3, 3, "a");
  say(3, 3, "b");
  EXPECT_EQ(finish(),
            "[0]: a\n[0]: b\n"
            "|podrun: late: [3] 2 lines, up to 3.0 s behind; [1,2] 2 lines, up to 40 ms behind " +
                kWhy);
}

TEST_F(DedupSinkTest, AlignsLabelsToTheWidestSoFar) {
  start(8, {.align = true});
  say(0, 7, "a");
  for (const std::size_t host : {0U, 2U, 4U, 6U, 7U}) say(host, host, "b");
  say(0, 7, "c");
  EXPECT_EQ(finish(), "all: a\n[0,2,4,6,7]: b\nall:         c\n|");
}

TEST_F(DedupSinkTest, NarrowsLabelsAfterALongWhile) {
  start(8, {.align = true});
  for (const std::size_t host : {0U, 2U, 4U, 6U, 7U}) say(host, host, "b");
  wait(500ms);
  for (int i = 0; i < 90; ++i) say(0, 7, std::to_string(i));
  const std::string shown = finish();
  EXPECT_NE(shown.find("all:         0\n"), std::string::npos) << shown;
  EXPECT_NE(shown.find("\nall: 89\n"), std::string::npos) << shown;
}

TEST_F(DedupSinkTest, ComparesTheLastStateOfABarInALog) {
  start(2, {.bars = {Bars::fold, Bars::fold}}, Same::log_line);
  say(0, 0, "10%\r50%\r100%");
  say(1, 1, "30%\r100%");
  EXPECT_EQ(finish(), "all: 100%\n|");
}

TEST_F(DedupSinkTest, SaysThatLinesMayHaveBeenShownTwice) {
  start(3, {}, Same::bytes, {.bytes = 100});
  say(0, 1, "a");
  say(2, 2, "a");
  const std::string shown = finish();
  EXPECT_NE(shown.find("some may appear twice\n"), std::string::npos) << shown;
}

TEST_F(DedupSinkTest, ShowsMeasuresAsARange) {
  start(4, {}, Same::log_line);
  for (std::size_t host = 0; host < 4; ++host)
    say(host, host,
        fmt::format("step 7 loss 2.31 ({} s/it)", host == 2 ? "1.90" : fmt::format("1.1{}", host)));
  EXPECT_EQ(finish(), "[0,1,3]: step 7 loss 2.31 (1.10..1.13 s/it)\n[2]: step 7 loss 2.31 (1.90 s/it)\n|");
}

TEST_F(DedupSinkTest, ShowsNumbersAsARange) {
  start(4, {}, Same::numbers);
  for (std::size_t host = 0; host < 4; ++host) say(host, host, fmt::format("step 7 loss 2.3{}", host));
  for (std::size_t host = 0; host < 4; ++host)
    say(host, host, fmt::format("step {} ends", host == 1 ? 8 : 9));
  EXPECT_EQ(finish(), "all: step 7 loss 2.30..2.33\n[0,2,3]: step 9 ends\n[1]: step 8 ends\n|");
}

TEST_F(DedupSinkTest, SaysOnceThatAHostIsAStepBehind) {
  start(4, {}, Same::numbers);
  for (int step = 1; step <= 6; ++step) {
    for (std::size_t host = 0; host < 4; ++host)
      say(host, host, fmt::format("step {} loss 0.6{}", host == 3 ? step - 1 : step, host));
  }
  EXPECT_EQ(finish(),
            "[0-2]: step 1 loss 0.60..0.62\n[3]: step 0 loss 0.63\n"
            "[0-2]: step 2 loss 0.60..0.62\n[3]: step 1 loss 0.63\n"
            "[0-2]: step 3 loss 0.60..0.62\n[3]: step 2 loss 0.63\n"
            "[0-2]: step 4 loss 0.60..0.62\n[3]: step 3 loss 0.63\n"
            "all: step 4..5 loss 0.60..0.63\nall: step 5..6 loss 0.60..0.63\n"
            "|podrun: [3] prints other numbers than most hosts: from here on they are in the ranges\n");
}

TEST_F(DedupSinkTest, NamesNoHostInALineOfSeveral) {
  start(3, {}, Same::log_line);
  for (std::size_t host = 0; host < 3; ++host) say(host, host, fmt::format("tpu-{} is rank {}", host, host));
  for (std::size_t host = 0; host < 3; ++host) say(host, host, "the first is tpu-0");
  say(1, 1, "tpu-1 is rank 1, alone");
  EXPECT_EQ(finish(), "all: {host} is rank *\nall: the first is tpu-0\n[1]: tpu-1 is rank 1, alone\n|");
}

TEST_F(DedupSinkTest, ShowsLinesOfProcessesOnce) {
  start(2, {}, Same::log_line);
  for (const std::size_t rank : {0U, 2U, 1U, 7U, 4U, 5U, 6U, 3U}) {
    say(rank / 4, rank / 4, fmt::format("[rank{}]: Traceback (most recent call last):", rank));
    say(rank / 4, rank / 4, fmt::format("[rank{}]: ValueError: bad shard on rank {}", rank, rank));
  }
  EXPECT_EQ(finish(),
            "all: [rank*]: Traceback (most recent call last):\n"
            "all: [rank*]: ValueError: bad shard on rank *\n|");
}

TEST_F(DedupSinkTest, SaysWhichHostIsBehindAndWhichIsSilent) {
  start(8);
  for (int second = 0; second < 100; ++second) {
    say(0, 5, fmt::format("step {}", second));
    if (second == 0) say(7, 7, "step 0");
    wait(700ms);
    say(6, 6, fmt::format("step {}", second));
    wait(300ms);
  }
  const std::string shown = finish();
  EXPECT_NE(shown.find("|podrun: [6] is 200 ms behind: its equal lines are not shown\n"
                       "podrun: [7] has printed nothing for 60 s\n"
                       "podrun: late: [6] 100 lines, up to 200 ms behind " +
                       kWhy),
            std::string::npos)
      << shown;
}

}  // namespace
}  // namespace podrun::output
