// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <gtest/gtest.h>

#include "podrun/output/make_sinks.hpp"

#include "unit/output/pipe.hpp"

namespace podrun::output {
namespace {

using test::Pipe;

std::vector<hosts::Host> two_hosts() {
  std::vector<hosts::Host> hosts(2);
  hosts[0].worker = 4;
  hosts[0].name = "tpu-4";
  hosts[1].worker = 7;
  hosts[1].name = "tpu-7";
  return hosts;
}

const std::vector<hosts::Host> kHosts = two_hosts();

class StreamSinkTest : public testing::Test {
 protected:
  void show(const std::vector<hosts::Host>& hosts, const View& style, const std::vector<Line>& lines) {
    const auto sink = make_stream_sink(hosts, style, terminal_);
    for (const Line& line : lines) sink->line(line);
    close();
  }
  void close() {
    terminal_.flush();
    out_.close_write();
    err_.close_write();
  }
  Terminal& terminal() { return terminal_; }
  std::string out() { return out_.read_to_end(); }
  std::string err() { return err_.read_to_end(); }

 private:
  Pipe out_;
  Pipe err_;
  Terminal terminal_{out_.write_fd(), err_.write_fd()};
};

TEST_F(StreamSinkTest, LabelsEveryLineOnItsOwnStream) {
  show(kHosts, {Label::both}, {{0, StreamId::out, "a\r"}, {1, StreamId::err, "b"}, {1, StreamId::out, ""}});
  EXPECT_EQ(out(), "4 tpu-4: a\r\n7 tpu-7: \n");
  EXPECT_EQ(err(), "7 tpu-7: b\n");
}

TEST_F(StreamSinkTest, AltersNoByteOfALine) {
  using namespace std::string_view_literals;
  show(kHosts, {}, {{0, StreamId::out, "\0\xff\x1b[K\t"sv}});
  EXPECT_EQ(out(), "4: \0\xff\x1b[K\t\n"sv);
}

TEST_F(StreamSinkTest, EndsAnUnfinishedLastLine) {
  show(kHosts, {Label::none}, {{0, StreamId::out, "a", LineEnd::end_of_stream}, {1, StreamId::out, "b"}});
  EXPECT_EQ(out(), "a\nb\n");
}

TEST_F(StreamSinkTest, ColorsEachStreamByItself) {
  show(kHosts, {Label::worker, {Color::off, Color::on}}, {{0, StreamId::out, "a"}, {0, StreamId::err, "b"}});
  EXPECT_EQ(out(), "4: a\n");
  EXPECT_EQ(err(), "\x1b[0;1;34m4:\x1b[0m b\n");
}

TEST_F(StreamSinkTest, SaysOncePerStreamThatALineComesInPieces) {
  const std::string text(1024, 'x');
  const auto piece = LineEnd::piece;
  show(kHosts, {},
       {{1, StreamId::err, text, piece}, {1, StreamId::err, text, piece}, {1, StreamId::out, text, piece}});
  EXPECT_EQ(err(), "podrun: [7] a line of stderr is longer than 1 KiB: shown in pieces\n7: " + text +
                       "\n7: " + text +
                       "\npodrun: [7] a line of stdout is longer than 1 KiB: shown in pieces\n");
  EXPECT_EQ(out(), "7: " + text + "\n");
}

TEST_F(StreamSinkTest, TakesChunksAsTheyAreFromOneHostWithoutLabel) {
  Pipe pipe;
  Terminal terminal(pipe.write_fd(), pipe.write_fd());
  EXPECT_EQ(make_stream_sink({kHosts[0]}, {Label::none}, terminal)->feed(), Feed::chunks);
  EXPECT_EQ(make_stream_sink({kHosts[0]}, {Label::worker}, terminal)->feed(), Feed::lines);
  EXPECT_EQ(make_stream_sink(kHosts, {Label::none}, terminal)->feed(), Feed::lines);
}

TEST_F(StreamSinkTest, LetsOneHostWithoutLabelDoNoMoreToATerminalThanColorIt) {
  const auto safe = Controls::only_colors;
  const auto sink =
      make_stream_sink({kHosts[0]}, {.label = Label::none, .controls = {safe, safe}}, terminal());
  EXPECT_EQ(sink->feed(), Feed::chunks);
  for (const char* chunk : {"Password:", "\x1b[3", "1m\x1b[A", "\x1b["})
    sink->line({0, StreamId::out, chunk, LineEnd::piece});
  sink->host_ended(0);
  close();
  EXPECT_EQ(out(), "Password:\x1b[31m\\x1b[A\\x1b[\x1b[0m");
}

}  // namespace
}  // namespace podrun::output
