// SPDX-License-Identifier: Apache-2.0
// How lines become commands. Here `(` opens a command, and `)` closes it.
#include "podrun/shell/command_reader.hpp"

#include <algorithm>
#include <deque>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/shell/own_commands.hpp"

namespace podrun::shell {
namespace {

using testing::ElementsAre;

class FakeLines final : public LineSource {
 public:
  ReadLine read(const std::string& prompt) override {
    prompts.push_back(prompt);
    if (lines.empty()) return {};
    ReadLine line = lines.front();
    lines.pop_front();
    if (waiting > 0) --waiting;
    return line;
  }
  bool has_waiting_line() override { return waiting > 0; }
  void remember(const std::string& command) override { remembered.push_back(command); }

  std::deque<ReadLine> lines;
  std::size_t waiting = 0;  ///< lines that arrive together
  std::vector<std::string> prompts;
  std::vector<std::string> remembered;
};

std::optional<Parsed> parse(const std::string& text) {
  const bool is_open = std::count(text.begin(), text.end(), '(') > std::count(text.begin(), text.end(), ')');
  return Parsed{!is_open, is_open ? "unexpected end of file" : ""};
}

class CommandReaderTest : public testing::Test {
 protected:
  void type(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) lines_.lines.push_back({ReadLine::Kind::text, line});
  }
  void press_ctrl_c() { lines_.lines.push_back({ReadLine::Kind::interrupted, {}}); }
  void press_ctrl_d() { lines_.lines.push_back({}); }
  void arrive_together() { lines_.waiting = lines_.lines.size(); }
  TypedCommand read() { return reader_.read("$ "); }
  std::string text() {
    const TypedCommand command = read();
    return command.kind == TypedCommand::Kind::text ? command.text : "no text";
  }

  FakeLines lines_;
  CommandReader reader_{lines_, parse};
};

TEST_F(CommandReaderTest, JoinsLinesUntilTheyAreACommand) {
  type({"one", "(", "", "two", ")", "three"});
  EXPECT_EQ(text(), "one");
  EXPECT_EQ(text(), "(\n\ntwo\n)");
  EXPECT_EQ(text(), "three");
  EXPECT_EQ(read().kind, TypedCommand::Kind::ended);
  EXPECT_THAT(lines_.prompts, ElementsAre("$ ", "$ ", "> ", "> ", "> ", "$ ", "$ "));
  EXPECT_THAT(lines_.remembered, ElementsAre("one", "(\n\ntwo\n)", "three"));
}

TEST_F(CommandReaderTest, DropsTheWholeCommandAfterCtrlC) {
  type({"(", "one"});
  press_ctrl_c();
  type({"two"});
  EXPECT_EQ(text(), "two");
  EXPECT_THAT(lines_.prompts, ElementsAre("$ ", "> ", "> ", "$ "));
  EXPECT_THAT(lines_.remembered, ElementsAre("two"));
}

TEST_F(CommandReaderTest, SaysThatTheInputEndedWithinACommand) {
  type({"(", "one"});
  press_ctrl_d();
  type({"two"});
  EXPECT_EQ(read().kind, TypedCommand::Kind::cut);
  EXPECT_EQ(text(), "two");
}

TEST_F(CommandReaderTest, TakesLinesThatArriveTogetherForOneCommand) {
  type({"one", ")", "two"});
  arrive_together();
  type({"three"});
  EXPECT_EQ(text(), "one\n)\ntwo");
  EXPECT_EQ(text(), "three");
}

TEST_F(CommandReaderTest, KeepsCommandsOfThePromptApart) {
  type({"one", ":workers 1", "two", "exit"});
  press_ctrl_d();
  arrive_together();
  EXPECT_EQ(text(), "one");
  EXPECT_EQ(text(), ":workers 1");
  EXPECT_EQ(text(), "two");
  EXPECT_EQ(text(), "exit");
  EXPECT_EQ(read().kind, TypedCommand::Kind::ended);
}

TEST_F(CommandReaderTest, KeepsAnEndThatArrivesWithACommand) {
  type({"one"});
  press_ctrl_d();
  arrive_together();
  EXPECT_EQ(text(), "one");
  EXPECT_EQ(read().kind, TypedCommand::Kind::ended);
}

TEST_F(CommandReaderTest, FindsCommandsOfThePromptInAPaste) {
  type({"one\n:workers 1\ntwo", ":workers 1\ntwo", "(\n:workers 1\n)\n:other", "one\ntwo"});
  EXPECT_EQ(read().misplaced, ":workers");
  EXPECT_EQ(read().misplaced, ":workers");
  EXPECT_EQ(read().misplaced, "");
  EXPECT_EQ(read().misplaced, "");
}

TEST_F(CommandReaderTest, LeavesLinesOfAHereDocumentInIt) {
  type({"(", ":workers 1", "# text", "exit", ")"});
  const TypedCommand command = read();
  EXPECT_EQ(command.text, "(\n:workers 1\n# text\nexit\n)");
  EXPECT_EQ(command.misplaced, "");
}

TEST(OwnCommand, IsNoCommandOfTheShell) {
  for (const char* line : {":help", " :workers 1", "exit", " logout "})
    EXPECT_TRUE(is_own_command(line)) << line;
  for (const char* line : {":", ": x", "exit 3", "ls :a", ":1"}) EXPECT_FALSE(is_own_command(line)) << line;
}

}  // namespace
}  // namespace podrun::shell
