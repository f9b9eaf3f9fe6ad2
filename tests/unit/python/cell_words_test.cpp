// SPDX-License-Identifier: Apache-2.0
#include "podrun/python/cell_words.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/output/cell_width.hpp"

namespace podrun::python {
namespace {

using testing::ElementsAre;
using namespace std::chrono_literals;
using Kind = CellReply::Kind;
using Texts = std::vector<std::string>;

constexpr std::string_view kSeparator = " · ";

std::vector<hosts::Host> some_hosts(std::size_t count = 8) {
  std::vector<hosts::Host> hosts(count);
  for (std::size_t host = 0; host < count; ++host) {
    hosts[host].worker = host;
    hosts[host].name = "tpu-" + std::to_string(host);
  }
  return hosts;
}

/// One reply for each text.
std::vector<HostReply> replied(const Texts& texts, Kind kind = Kind::value) {
  std::vector<HostReply> replies;
  for (std::size_t host = 0; host < texts.size(); ++host)
    replies.push_back({host, {.kind = kind, .text = texts[host]}});
  return replies;
}

Texts described(const std::vector<HostReply>& replies, std::size_t asked = 8) {
  return describe_replies(some_hosts(), replies, asked);
}

std::string traceback(std::string_view exception) {
  return "Traceback (most recent call last):\n  File \"<cell 9>\", line 1, in <module>\n    open(shard)\n    "
         "^^^^^^^^^^^\n" +
         std::string(exception) + "\n";
}

TEST(CellWords, AValueOfAllHostsHasNoLabel) {
  EXPECT_THAT(described(replied(Texts(8, "('0.6.2', 32)"))), ElementsAre("('0.6.2', 32)"));
  EXPECT_THAT(described(replied(Texts(8, "[[1, 2],\n [3, 4]]"))), ElementsAre("[[1, 2],", " [3, 4]]"));
}

TEST(CellWords, TheLargestGroupComesFirst) {
  EXPECT_THAT(described(replied({"a", "b", "b", "b", "b", "b", "b", "a"})),
              ElementsAre("[1-6]: b", "[0,7]: a"));
  EXPECT_THAT(described(replied({"b", "b", "b", "x\ny", "b", "b", "b", "b"})),
              ElementsAre("[0-2,4-7]: b", "[3]:", "x", "y"));
}

TEST(CellWords, AValueOfSomeOfTheAskedHostsHasALabel) {
  EXPECT_THAT(described(replied({"1", "1"})), ElementsAre("[0,1]: 1"));
}

TEST(CellWords, AddressesDoNotCount) {
  EXPECT_THAT(described(replied({"<A at 0x7f01aa2b10>", "<A at 0x7fe0aa2b88>"}), 2),
              ElementsAre("<A at 0x7f01aa2b10>"));
  EXPECT_THAT(described(replied({"0x1f", "0x2f"}), 2), ElementsAre("[0]: 0x1f", "[1]: 0x2f"));
}

TEST(CellWords, NothingThatActsOnATerminalIsShown) {
  EXPECT_THAT(described(replied({"\x1b]0;x\x07\tok"}), 1), ElementsAre("\\x1b]0;x\\x07\tok"));
}

TEST(CellWords, ATracebackOfAllIsShownOnce) {
  EXPECT_THAT(described(replied(Texts(8, traceback("ValueError: no")), Kind::error)),
              ElementsAre("Traceback (most recent call last):", "  File \"<cell 9>\", line 1, in <module>",
                          "    open(shard)", "    ^^^^^^^^^^^", "ValueError: no"));
}

TEST(CellWords, EqualFramesAreShownOnceWithTheLinesThatDiffer) {
  const std::vector<HostReply> errors{
      {2, {.kind = Kind::error, .text = traceback("FileNotFoundError: 'shard-258'")}},
      {5, {.kind = Kind::error, .text = traceback("FileNotFoundError: 'shard-261'")}}};
  EXPECT_THAT(described(errors),
              ElementsAre("[2,5]:", "Traceback (most recent call last):",
                          "  File \"<cell 9>\", line 1, in <module>", "    open(shard)", "    ^^^^^^^^^^^",
                          "[2]: FileNotFoundError: 'shard-258'", "[5]: FileNotFoundError: 'shard-261'"));
}

TEST(CellWords, AnExceptionMayHaveSeveralLines) {
  const std::vector<HostReply> errors{{0, {.kind = Kind::error, .text = traceback("E: a\n  b\nc 1")}},
                                      {1, {.kind = Kind::error, .text = traceback("E: a\n  b\nc 2")}}};
  EXPECT_THAT(Texts(described(errors, 2)),
              testing::IsSupersetOf({"[0]:", "E: a", "  b", "c 1", "[1]:", "c 2"}));
}

TEST(CellWords, WithoutFramesTheTextIsTheException) {
  EXPECT_THAT(described(replied({"KeyboardInterrupt\n", "KeyboardInterrupt\n"}, Kind::error), 2),
              ElementsAre("KeyboardInterrupt"));
  EXPECT_THAT(
      described(replied({"  File \"<cell 1>\", line 1\n    f(\n     ^\nSyntaxError: '(' was never closed\n"},
                        Kind::error),
                1),
      ElementsAre("  File \"<cell 1>\", line 1", "    f(", "     ^", "SyntaxError: '(' was never closed"));
}

TEST(CellWords, AnExitSaysThatTheInterpretersStay) {
  EXPECT_THAT(described({{5, {.kind = Kind::exit, .text = "SystemExit: 2"}}}),
              ElementsAre("[5]: SystemExit: 2 (the interpreters stay; exit or Ctrl-D leaves)"));
}

TEST(CellWords, ACellWithoutAValueSaysNothing) {
  EXPECT_THAT(described(replied(Texts(8), Kind::done)), testing::IsEmpty());
}

TEST(CellWords, PlacesTheSmallestGroupFirst) {
  const std::vector<HostPlace> places{
      {0, "<cell 6>, line 5, in train"}, {1, "<cell 6>, line 5, in train"}, {3, "data.py, line 8, in load"}};
  EXPECT_THAT(describe_places(some_hosts(), places), ElementsAre("[3] waits in data.py, line 8, in load",
                                                                 "[0,1] wait in <cell 6>, line 5, in train"));
}

// The prompt

std::vector<HostReply> took(const std::vector<std::chrono::milliseconds>& times) {
  std::vector<HostReply> replies;
  for (std::size_t host = 0; host < times.size(); ++host) replies.push_back({host, {.took = times[host]}});
  return replies;
}

std::string prompt(const CellsBefore& before) { return cell_prompt(some_hosts(), before, kSeparator); }

TEST(CellPrompt, NamesTheHostsOfTheNextCell) {
  EXPECT_EQ(prompt({.idle = {0, 1, 2, 3, 4, 5, 6, 7}}), "[0-7] >>> ");
  EXPECT_EQ(prompt({.idle = {0, 1, 2, 4}, .lost = {3}}), "[0-2,4] · lost [3] >>> ");
  EXPECT_EQ(prompt({.lost = {0, 1}}), "no interpreter · lost [0,1] >>> ");
}

TEST(CellPrompt, SaysHowLongACellTookAndWhichHostTookMuchLonger) {
  EXPECT_EQ(prompt({.idle = {0, 1, 2}, .replies = took({100ms, 200ms, 400ms})}), "[0-2] >>> ");
  EXPECT_EQ(prompt({.idle = {0, 1, 2}, .replies = took({9s, 9s, 10s})}), "[0-2] 10 s >>> ");
  EXPECT_EQ(prompt({.idle = {0, 1, 2}, .replies = took({2s, 2s, 8s})}), "[0-2] 2 s, [2] 8 s >>> ");
  EXPECT_EQ(prompt({.idle = {0, 1, 2}, .replies = took({10ms, 20ms, 8s})}), "[0-2] [2] 8 s >>> ");
}

TEST(CellPrompt, NamesTheHostsThatFailed) {
  std::vector<HostReply> replies = took({1ms, 1ms, 1ms});
  replies[2].reply = {.kind = Kind::error, .text = traceback("pkg.errors.ShardError: no")};
  EXPECT_EQ(prompt({.idle = {0, 1, 2}, .replies = replies}), "[0-2] · [2] ShardError >>> ");
  replies[1].reply = {.kind = Kind::error, .text = traceback("ValueError")};
  EXPECT_EQ(prompt({.idle = {0, 1, 2}, .replies = replies}), "[0-2] · 2 hosts failed >>> ");
  EXPECT_EQ(prompt({.idle = {0, 1, 2}, .replies = replied(Texts(3, "KeyboardInterrupt\n"), Kind::error)}),
            "[0-2] · KeyboardInterrupt >>> ");
}

TEST(CellPrompt, FitsIn80Columns) {
  const std::vector<hosts::Host> hosts = some_hosts(256);
  CellsBefore before;
  for (std::size_t host = 0; host < 256; ++host) {
    (host % 3 == 0 ? before.lost : before.idle).push_back(host);
    before.replies.push_back({host,
                              {.kind = host % 2 == 0 ? Kind::error : Kind::done,
                               .took = host % 5 == 0 ? 40000s : 9000s,
                               .text = traceback(std::string(60, 'E') + ": x")}});
  }
  EXPECT_LE(output::cell_width(cell_prompt(hosts, before, kSeparator)), 80U);
}

TEST(CellPrompt, MoreLinesBeginBelowTheFirst) {
  EXPECT_EQ(more_prompt("[0-7] >>> "), "      ... ");
  EXPECT_EQ(more_prompt("[0-6] 9 s · lost [7] >>> "), "      ... ");
  EXPECT_EQ(more_prompt("64 hosts >>> "), "         ... ");
}

}  // namespace
}  // namespace podrun::python
