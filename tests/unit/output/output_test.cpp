// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/output.hpp"

#include <chrono>
#include <future>
#include <random>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "podrun/output/full_screen.hpp"

#include "unit/output/output_fixture.hpp"

namespace podrun::output {
namespace {

using test::full_chunk;
using test::OutputTest;

constexpr StreamId kOut = StreamId::out;
constexpr StreamId kErr = StreamId::err;

TEST_F(OutputTest, ShowsLinesAsTheyBecomeComplete) {
  Output& output = start(2);
  output.write(0, kOut, Chunk("on"));
  output.write(1, kOut, Chunk("two\nth"));
  run(output.drain());
  EXPECT_EQ(out_.read_some(), "1: two\n");
  output.write(0, kOut, Chunk("e\n"));
  run(output.drain());
  EXPECT_EQ(out_.read_some(), "0: one\n");
  output.end(1);
  run(output.drain());
  EXPECT_EQ(out_.read_some(), "1: th\n");
}

TEST_F(OutputTest, DeliversTheUnfinishedAtItsEnd) {
  read_both();
  Output& output = start(2);
  output.write(0, kOut, Chunk("a"));
  output.write(0, kErr, Chunk("b"));
  output.write(1, kOut, Chunk("c"));
  output.end(0);
  output.end(0);
  EXPECT_EQ(out(), "0: a\n1: c\n");
  EXPECT_EQ(err(), "0: b\n");
}

TEST_F(OutputTest, SaysInOrderWithWhatWasGiven) {
  terminal_ = std::make_shared<Terminal>(out_.write_fd(), out_.write_fd());
  read_both();
  Output& output = start(2);
  output.write(0, kOut, Chunk("a\n"));
  output.say("podrun: hello");
  output.write(0, kErr, Chunk("b\n"));
  output.write(1, kOut, Chunk("c\n"));
  EXPECT_EQ(out(), "0: a\npodrun: hello\n0: b\n1: c\n");
}

TEST_F(OutputTest, PassesOneHostWithoutLabelThroughByteForByte) {
  read_both();
  std::mt19937 random(7);
  std::string sent;
  Output& output = start(1, Label::none);
  for (int i = 0; i < 300; ++i) {
    std::string bytes(1 + random() % 2000, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    sent += bytes;
    output.write(0, kOut, Chunk(std::move(bytes)));
  }
  EXPECT_EQ(out(), sent);
  EXPECT_EQ(err(), "");
}

TEST_F(OutputTest, ShowsAnUnfinishedPromptInRawMode) {
  Output& output = start(1, Label::none);
  output.write(0, kOut, Chunk("password: "));
  run(output.drain());
  EXPECT_EQ(out_.read_some(), "password: ");
}

TEST_F(OutputTest, ShowsAVeryLongLineInAnnouncedPieces) {
  constexpr std::size_t kMiB = 1024 * 1024;
  read_both();
  Output& output = start(1);
  const std::string line(4 * kMiB, 'x');
  for (const Chunk& chunk : to_chunks(line)) output.write(0, kOut, chunk);
  const std::string piece = "0: " + std::string(kMiB, 'x') + '\n';
  EXPECT_TRUE(out() == piece + piece + piece + piece);
  EXPECT_EQ(err(), "podrun: [0] a line of stdout is longer than 1 MiB: shown in pieces\n");
}

TEST_F(OutputTest, ShowsAScreenInOrderAndKnowsWhenItIsWritten) {
  Output& output = start(1);
  output.print("before");
  output.show("<frame>", true);
  EXPECT_FALSE(output.is_written());
  EXPECT_TRUE(output.shows_screen());
  run(output.drain());
  EXPECT_TRUE(output.is_written());
  output.show("<leave>", false);
  EXPECT_FALSE(output.shows_screen());
  output.print("after");
  run(output.drain());
  EXPECT_EQ(out_.read_some(), "before\n<frame><leave>after\n");
}

TEST_F(OutputTest, IsNotWrittenWhileTheReaderDoesNotRead) {
  Output& output = start(1);
  output.show(std::string(100'000, 'x'), true);
  EXPECT_FALSE(out_.read_some(1).empty()) << "the thread is in its write";
  main_.poll();
  EXPECT_FALSE(output.is_written());
  out_.close_read();
  run(output.drain());
  EXPECT_TRUE(output.is_written()) << "discarded after the error";
}

TEST_F(OutputTest, LeavesAScreenAtItsEnd) {
  read_both();
  start(1).show("<frame>", true);
  EXPECT_EQ(out(), "<frame>" + std::string(FullScreen::kLeave));
}

TEST_F(OutputTest, DrainsForTwo) {
  Output& output = start(1);
  output.print("a");
  spawn(output.drain());
  output.print("b");
  run(output.drain());
  EXPECT_EQ(out_.read_some(), "a\nb\n");
}

/// Writes what it is given, tells when it is destroyed.
class LastBreathSink final : public Sink {
 public:
  LastBreathSink(Terminal& terminal, std::promise<void> gone) : terminal_(terminal), gone_(std::move(gone)) {}
  ~LastBreathSink() override { gone_.set_value(); }
  void line(const Line& line) override { terminal_.append(line.stream, {line.text}); }

 private:
  Terminal& terminal_;
  std::promise<void> gone_;
};

TEST_F(OutputTest, CanBeLeftWhileTheReaderDoesNotRead) {
  std::promise<void> gone;
  std::future<void> thread_ended = gone.get_future();
  Output& output = start(1, std::make_unique<LastBreathSink>(*terminal_, std::move(gone)));
  output.write(0, kOut, full_chunk());
  EXPECT_FALSE(out_.read_some(1).empty()) << "the thread is in its write";
  output.abandon();
  output_.reset();
  EXPECT_EQ(thread_ended.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  out_.close_read();
  thread_ended.wait();
}

/// Holds back a message until its time has come.
class LateSink final : public Sink {
 public:
  explicit LateSink(Terminal& terminal) : terminal_(terminal) {}
  void line(const Line& line) override { held_ = line.text; }
  void host_ended(std::size_t host) override {
    terminal_.append(kErr, {"end of ", std::to_string(host), "\n"});
  }
  void finish() override { terminal_.append(kErr, {"finish\n"}); }
  void tick(TimePoint /*now*/) override {
    if (!held_.empty()) terminal_.append(kOut, {std::exchange(held_, "")});
  }
  TimePoint next_tick() const override { return held_.empty() ? TimePoint::max() : Clock::now(); }

 private:
  Terminal& terminal_;
  std::string held_;
};

TEST_F(OutputTest, CallsTheSinkWhenItsTimeHasCome) {
  Output& output = start(1, std::make_unique<LateSink>(*terminal_));
  output.write(0, kOut, Chunk("late\n"));
  EXPECT_EQ(out_.read_some(), "late") << "though nothing more was given";
}

TEST_F(OutputTest, EndsHostsOnceThenFinishesThenSays) {
  read_both();
  Output& output = start(3, std::make_unique<LateSink>(*terminal_));
  output.end(1);
  output.finish();
  output.say("podrun: the end");
  run(output.drain());
  EXPECT_EQ(err(), "end of 1\nend of 0\nend of 2\nfinish\npodrun: the end\n");
}

}  // namespace
}  // namespace podrun::output
