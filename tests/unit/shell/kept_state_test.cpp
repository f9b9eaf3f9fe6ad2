// SPDX-License-Identifier: Apache-2.0
#include "podrun/shell/kept_state.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/run_shell.hpp"

namespace podrun::shell {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::Pair;

TEST(KeptState, ReadsDirectoriesAndVariables) {
  const auto state = parse_kept_state("/usr/lib\0/root\0A=1\0B=x=y\nz\0EMPTY=\0end\0"s);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->directory, "/usr/lib");
  EXPECT_EQ(state->directory_before, "/root");
  EXPECT_THAT(state->variables, ElementsAre(Pair("A", "1"), Pair("B", "x=y\nz"), Pair("EMPTY", "")));
}

TEST(KeptState, LeavesOutWhatEachLineHasOfItsOwn) {
  const auto state = parse_kept_state(
      "/\0\0PODRUN_RANK=1\0SHLVL=2\0_=/bin/env\0PWD=/\0SSH_CLIENT=a\0BASH_FUNC_f%%=() { :;}\0 bad=1\0KEPT=1\0end\0"s);
  ASSERT_TRUE(state);
  EXPECT_THAT(state->variables, ElementsAre(Pair("KEPT", "1")));
}

TEST(KeptState, RefusesWhatIsCut) {
  EXPECT_FALSE(parse_kept_state(""));
  EXPECT_FALSE(parse_kept_state("/\0"s));
  EXPECT_FALSE(parse_kept_state("/\0\0A=1"s));
  EXPECT_FALSE(parse_kept_state("relative\0\0end\0"s));
  EXPECT_FALSE(parse_kept_state("/\0end\0"s)) << "no directory before";
  EXPECT_FALSE(parse_kept_state("/\0\0"s)) << "env(1) has failed";
  EXPECT_FALSE(parse_kept_state("/\0\0A=1\0end"s));
  EXPECT_TRUE(parse_kept_state("/\0\0end\0"s));
}

class RestoreTest : public testing::TestWithParam<test::Shell> {};
INSTANTIATE_TEST_SUITE_P(All, RestoreTest, testing::ValuesIn(test::shells()), test::ShellName());

TEST_P(RestoreTest, BringsBackAnyValue) {
  KeptState now{.directory = "/usr", .directory_before = "/var", .variables = {}};
  std::string words;
  int number = 0;
  for (const std::string& word : test::awkward_words(3)) {
    now.variables[fmt::format("V{}", number)] = word;
    words += fmt::format(" \"$V{}\"", number++);
  }
  const test::ShellRun run =
      test::run_shell(GetParam(), {"-c", restore({}, now) + "printf '%s\\0' \"$PWD\" \"$OLDPWD\"" + words});
  test::Texts expected = {"/usr", "/var"};
  for (int i = 0; i < number; ++i) expected.push_back(now.variables[fmt::format("V{}", i)]);
  EXPECT_EQ(test::split_at_nul(run.output), expected);
}

TEST_P(RestoreTest, ChangesOnlyWhatDiffers) {
  const KeptState fresh{
      .directory = "/", .directory_before = "", .variables = {{"SAME", "1"}, {"GONE", "1"}}};
  const KeptState now{.directory = "/", .directory_before = "", .variables = {{"SAME", "1"}, {"NEW", "2"}}};
  const test::ShellRun run = test::run_shell(
      GetParam(), {"-c", restore(fresh, now) + "env; echo \"${GONE-unset}\""}, "", {"SAME=other", "GONE=1"});
  EXPECT_THAT(run.output, testing::HasSubstr("SAME=other\n"));
  EXPECT_THAT(run.output, testing::HasSubstr("NEW=2\n"));
  EXPECT_THAT(run.output, testing::EndsWith("unset\n"));
}

TEST_P(RestoreTest, TakesBackTheDirectoryBefore) {
  const KeptState now{.directory = "/usr", .directory_before = "/var", .variables = {}};
  const test::ShellRun run = test::run_shell(GetParam(), {"-c", restore({}, now) + "cd - >/dev/null; pwd"});
  EXPECT_EQ(run.output, "/var\n");
}

TEST_P(RestoreTest, SetsNothingThatOnlyTheShellSets) {
  const KeptState now{.directory = "/",
                      .directory_before = "",
                      .variables = {{"UID", "5"}, {"PPID", "6"}, {"SHELLOPTS", "x"}}};
  const test::ShellRun run =
      test::run_shell(GetParam(), {"-c", "exec 2>&1; " + restore({}, now) + "echo on"});
  EXPECT_EQ(run.output, "on\n");
}

TEST_P(RestoreTest, NamesADirectoryThatIsGone) {
  const KeptState now{.directory = "/no where", .directory_before = "", .variables = {}};
  const test::ShellRun run =
      test::run_shell(GetParam(), {"-c", "cd /tmp; exec 2>&1; " + restore({}, now) + "pwd"});
  EXPECT_EQ(run.output, "podrun: no way into /no where: this line runs in /tmp\n/tmp\n");
}

}  // namespace
}  // namespace podrun::shell
