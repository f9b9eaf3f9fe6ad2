// SPDX-License-Identifier: Apache-2.0
#include "podrun/shell/state_filter.hpp"

#include <gtest/gtest.h>

#include "podrun/base/base64.hpp"

namespace podrun::shell {
namespace {

using namespace std::string_literals;

std::string report(std::string_view state) {
  const std::string text = to_base64(state);
  const std::size_t half = text.size() / 2;
  return "~podrun1 id " + text.substr(0, half) + "\n~podrun1 id " + text.substr(half) + "\n~podrun1 id .\n";
}

/// What is left when the output comes in pieces of `size` bytes.
std::string pass(StateFilter& filter, std::string_view output, std::size_t size) {
  std::string rest;
  for (std::size_t at = 0; at < output.size(); at += size)
    rest += filter.pass(0, Chunk(std::string(output.substr(at, size)))).bytes();
  return rest += filter.finish(0).bytes();
}

TEST(StateFilter, TakesTheReportOutHoweverItArrives) {
  const std::string output =
      "~ tilde\nno newline" + report("/usr\0/\0A=1\0end\0"s) + "after ~podrun1 other ~";
  for (std::size_t size = 1; size <= output.size(); ++size) {
    StateFilter filter({"id"});
    EXPECT_EQ(pass(filter, output, size), "~ tilde\nno newlineafter ~podrun1 other ~") << size;
    ASSERT_TRUE(filter.state_of(0)) << size;
    EXPECT_EQ(filter.state_of(0)->directory, "/usr");
    EXPECT_EQ(filter.state_of(0)->variables.at("A"), "1");
  }
}

TEST(StateFilter, HasNoStateOfAReportThatIsCut) {
  const std::string whole = report("/usr\0/\0A=1\0end\0"s);
  for (const std::string_view end : {"~podrun1 id .\n", ".\n", "\n"}) {
    StateFilter filter({"id"});
    pass(filter, whole.substr(0, whole.size() - end.size()), 7);
    EXPECT_FALSE(filter.state_of(0));
  }
  StateFilter filter({"id", "other"});
  EXPECT_FALSE(filter.state_of(1));
}

TEST(StateFilter, LeavesTheReportOfAnotherHostInTheOutput) {
  const std::string whole = report("/usr\0/\0A=1\0end\0"s);
  StateFilter filter({"other", "id"});
  EXPECT_EQ(pass(filter, whole, 7), whole);
  EXPECT_FALSE(filter.state_of(0));
  EXPECT_FALSE(filter.is_in_doubt(0));
}

TEST(StateFilter, BelievesNoneOfTwoReports) {
  const std::string whole = report("/usr\0/\0A=1\0end\0"s);
  for (const std::string& more : {whole, "~podrun1 id .\n"s, "~podrun1 id x\n"s}) {
    StateFilter filter({"id"});
    EXPECT_EQ(pass(filter, "a" + whole + "b\n" + more + "c", 7), "ab\n" + more + "c");
    EXPECT_TRUE(filter.is_in_doubt(0));
    EXPECT_FALSE(filter.state_of(0));
  }
}

TEST(StateFilter, DelaysNoOutput) {
  StateFilter filter({"id"});
  EXPECT_EQ(filter.pass(0, Chunk("ready? ")).bytes(), "ready? ");
  EXPECT_EQ(filter.pass(0, Chunk("~user")).bytes(), "~user");
  EXPECT_EQ(filter.pass(0, Chunk("~pod")).bytes(), "");
  EXPECT_EQ(filter.pass(0, Chunk("ium\n")).bytes(), "~podium\n");
}

}  // namespace
}  // namespace podrun::shell
