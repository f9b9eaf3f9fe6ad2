// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/label.hpp"

#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace podrun::output {
namespace {

hosts::Host make_host(std::size_t number, std::string name) {
  hosts::Host host;
  host.worker = number;
  host.name = std::move(name);
  return host;
}

const hosts::Host kHost = make_host(3, "tpu-3");

std::string plain(Label label, const hosts::Host& host = kHost) {
  return line_label(label, host, StreamId::out, Color::off);
}

TEST(LineLabel, NamesTheHost) {
  EXPECT_EQ(plain(Label::worker), "3: ");
  EXPECT_EQ(plain(Label::host), "tpu-3: ");
  EXPECT_EQ(plain(Label::both), "3 tpu-3: ");
  EXPECT_EQ(plain(Label::none), "");
  EXPECT_EQ(plain(Label::host, make_host(0, "a\x1b[2J")), "a\\x1b[2J: ");
}

TEST(LineLabel, ReadsWhatIsStored) {
  for (const StreamId stream : {StreamId::out, StreamId::err}) {
    const std::string line = line_label(Label::stored, kHost, stream, Color::off) + "4: text";
    const std::optional<StoredLine> read = read_stored_line(line);
    ASSERT_TRUE(read) << line;
    EXPECT_EQ(read->worker, 3U);
    EXPECT_EQ(read->stream, stream);
    EXPECT_EQ(read->text, "4: text");
  }
  for (const char* const line :
       {"", "3", "3:", "3:x", ": x", "podrun: x", "-3: x", "3? x", "99999999999999999999: x"})
    EXPECT_FALSE(read_stored_line(line)) << line;
}

TEST(LineLabel, ColorsTheLabelAlone) {
  EXPECT_EQ(line_label(Label::worker, kHost, StreamId::out, Color::on), "\x1b[0;35m3:\x1b[0m ");
  EXPECT_EQ(line_label(Label::worker, kHost, StreamId::err, Color::on), "\x1b[0;1;35m3:\x1b[0m ");
  EXPECT_EQ(line_label(Label::none, kHost, StreamId::err, Color::on), "");
}

TEST(LineLabel, CyclesThroughTheColors) {
  const auto color_of = [](std::size_t number) {
    const std::string text = line_label(Label::host, make_host(number, "a"), StreamId::out, Color::on);
    return text.substr(0, text.find('m'));
  };
  std::set<std::string> colors;
  for (std::size_t number = 0; number < 10; ++number) colors.insert(color_of(number));
  EXPECT_EQ(colors.size(), 10U);
  EXPECT_EQ(color_of(10), color_of(0));
}

TEST(ChooseColor, FollowsTheModeThenTheEnvironmentThenTheTerminal) {
  const ColorEnvironment fine{.term = "xterm"};
  EXPECT_EQ(choose_color(ColorMode::automatic, fine, true), Color::on);
  EXPECT_EQ(choose_color(ColorMode::automatic, fine, false), Color::off);
  EXPECT_EQ(choose_color(ColorMode::never, fine, true), Color::off);
  EXPECT_EQ(choose_color(ColorMode::automatic, {.no_color = "", .term = "xterm"}, true), Color::on);
  EXPECT_EQ(choose_color(ColorMode::automatic, {.no_color = "1", .term = "xterm"}, true), Color::off);
  EXPECT_EQ(choose_color(ColorMode::automatic, {.term = "dumb"}, true), Color::off);
  EXPECT_EQ(choose_color(ColorMode::automatic, {.term = ""}, true), Color::off);
  EXPECT_EQ(choose_color(ColorMode::automatic, {}, true), Color::off);
  EXPECT_EQ(choose_color(ColorMode::always, {.no_color = "1"}, false), Color::on);
}

}  // namespace
}  // namespace podrun::output
