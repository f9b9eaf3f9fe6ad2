// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/line_printer.hpp"

#include <gtest/gtest.h>

#include "unit/output/pipe.hpp"

namespace podrun::output {
namespace {

class LinePrinterTest : public testing::Test {
 protected:
  /// The text that these lines give on stdout, then on stderr.
  std::string shown(const View& view, const std::vector<Line>& lines) {
    test::Pipe out;
    test::Pipe err;
    {
      Terminal terminal(out.write_fd(), err.write_fd());
      LinePrinter printer({hosts::Host{.worker = 7, .name = "tpu-7"}}, view, terminal);
      for (const Line& line : lines) printer.print("7: ", line);
      terminal.flush();
    }
    out.close_write();
    err.close_write();
    return out.read_to_end() + "|" + err.read_to_end();
  }
};

TEST(LastState, IsWhatAReturnLeaves) {
  EXPECT_EQ(last_state("plain"), "plain");
  EXPECT_EQ(last_state("10%\r50%\r100%"), "100%");
  EXPECT_EQ(last_state("10%\r100%\r\r"), "100%") << "as with lines that end in CR LF";
  EXPECT_EQ(last_state("\r"), "");
  EXPECT_EQ(last_state(""), "");
}

TEST_F(LinePrinterTest, FoldsBarsOfTheStreamsThatItIsToldTo) {
  const View view{.bars = {Bars::fold, Bars::keep}};
  EXPECT_EQ(shown(view, {{0, StreamId::out, "1%\r2%"}, {0, StreamId::err, "1%\r2%"}}), "7: 2%\n|7: 1%\r2%\n");
}

TEST_F(LinePrinterTest, EscapesWhatCouldAct) {
  const View view{.controls = {Controls::escape, Controls::escape}};
  EXPECT_EQ(shown(view, {{0, StreamId::out, "\x1b[2Ja\tb\xff"}}), "7: \\x1b[2Ja\tb\\xff\n|");
}

TEST_F(LinePrinterTest, LetsOnlyColorsActOnATerminal) {
  const View view{.controls = {Controls::only_colors, Controls::pass}};
  EXPECT_EQ(
      shown(view,
            {{0, StreamId::out, "a"}, {0, StreamId::out, "\x1b[31mb\x1b[A"}, {0, StreamId::err, "\x1b[A"}}),
      "7: a\n7: \x1b[31mb\\x1b[A\x1b[0m\n|7: \x1b[A\n");
}

TEST_F(LinePrinterTest, EndsWhatALineHasColored) {
  const View view{.color = {Color::on, Color::off}};
  EXPECT_EQ(
      shown(view,
            {{0, StreamId::out, "\x1b[41ma"}, {0, StreamId::out, "b"}, {0, StreamId::err, "\x1b[41mc"}}),
      "7: \x1b[41ma\x1b[0m\n7: b\n|7: \x1b[41mc\n");
}

TEST_F(LinePrinterTest, ShowsStreamsWhereTheViewWantsThem) {
  const View view{.shown_on = {StreamId::err, StreamId::err}};
  EXPECT_EQ(shown(view, {{0, StreamId::out, "a"}}), "|7: a\n");
}

TEST_F(LinePrinterTest, SaysNothingOfThePiecesOfAFoldedBar) {
  const View view{.bars = {Bars::fold, Bars::fold}};
  EXPECT_EQ(shown(view, {{0, StreamId::out, "1%\r2%", LineEnd::piece}}), "7: 2%\n|");
}

}  // namespace
}  // namespace podrun::output
