// SPDX-License-Identifier: Apache-2.0
// A line of `podrun shell` as a host evaluates it, in the shells that may be /bin/sh there and in those that
// may be the user's; and the state that it leaves.
#include "podrun/shell/line_state.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"

#include "support/run_shell.hpp"
#include "support/temp_directory.hpp"

namespace podrun::shell {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

TEST(KeptState, ReadsDirectoriesAndVariables) {
  const auto state = parse_kept_state("/usr/lib\0/root\0A=1\0B=x=y\nz\0EMPTY=\0end\0"s);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->directory, "/usr/lib");
  EXPECT_EQ(state->directory_before, "/root");
  EXPECT_THAT(state->variables, ElementsAre(Pair("A", "1"), Pair("B", "x=y\nz"), Pair("EMPTY", "")));
}

TEST(KeptState, LeavesOutVariablesThatDifferForEachLine) {
  const auto state = parse_kept_state(
      "/\0\0PODRUN_RANK=1\0SHLVL=2\0_=/bin/env\0PWD=/\0SSH_CLIENT=a\0BASH_FUNC_f%%=() { :;}\0 bad=1\0KEPT=1\0end\0"s);
  ASSERT_TRUE(state);
  EXPECT_THAT(state->variables, ElementsAre(Pair("KEPT", "1")));
}

TEST(KeptState, KeepsVariablesThatAreNotExportedApart) {
  const auto state = parse_kept_state("/\0\0A=1\0plain\0B=x\ny\0A=2\0PODRUN_C=1\0BASHPID=1\0end\0"s);
  ASSERT_TRUE(state);
  EXPECT_THAT(state->variables, ElementsAre(Pair("A", "1")));
  EXPECT_THAT(state->plain, ElementsAre(Pair("B", "x\ny")));
}

TEST(KeptState, FindsTheNamesThatALineMayAssign) {
  EXPECT_THAT(assigned_names("A=1; B+=2 export C_3=x && for i in; do d=$(E=5)"),
              ElementsAre("A", "B", "C_3", "E", "d"));
  EXPECT_THAT(assigned_names("echo \"a\" --x=1\nY=2"), ElementsAre("Y", "x"));
  EXPECT_THAT(assigned_names("a=(1 2); [ a == b ]; 5=x; =; == RANDOM=1 UID=1 PODRUN_X=1 BASH_ENV=x status=1"),
              ElementsAre());
}

TEST(KeptState, RefusesIncompleteText) {
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

TEST_P(RestoreTest, RestoresAnyValue) {
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
  EXPECT_THAT(run.output, HasSubstr("SAME=other\n"));
  EXPECT_THAT(run.output, HasSubstr("NEW=2\n"));
  EXPECT_THAT(run.output, testing::EndsWith("unset\n"));
}

TEST_P(RestoreTest, RestoresVariablesThatAreNotExported) {
  const KeptState fresh{.directory = "/", .directory_before = "", .variables = {{"GONE", "1"}}};
  const KeptState now{
      .directory = "/", .directory_before = "", .variables = {}, .plain = {{"A", "a '\n b"}, {"GONE", "2"}}};
  const test::ShellRun run = test::run_shell(
      GetParam(), {"-c", restore(fresh, now) + "echo \"$A\" $GONE; env | grep -c -e ^A= -e ^GONE="}, "",
      {"GONE=1"});
  EXPECT_EQ(run.output, "a '\n b 2\n0\n");
}

TEST_P(RestoreTest, RestoresThePreviousDirectory) {
  const KeptState now{.directory = "/usr", .directory_before = "/var", .variables = {}};
  const test::ShellRun run = test::run_shell(GetParam(), {"-c", restore({}, now) + "cd - >/dev/null; pwd"});
  EXPECT_EQ(run.output, "/var\n");
}

TEST_P(RestoreTest, DoesNotSetTheShellsOwnVariables) {
  const KeptState now{.directory = "/",
                      .directory_before = "",
                      .variables = {{"UID", "5"}, {"PPID", "6"}, {"SHELLOPTS", "x"}}};
  const test::ShellRun run =
      test::run_shell(GetParam(), {"-c", "exec 2>&1; " + restore({}, now) + "echo on"});
  EXPECT_EQ(run.output, "on\n");
}

TEST_P(RestoreTest, NamesAMissingDirectory) {
  const KeptState now{.directory = "/no where", .directory_before = "", .variables = {}};
  const test::ShellRun run =
      test::run_shell(GetParam(), {"-c", "cd /tmp; exec 2>&1; " + restore({}, now) + "pwd"});
  EXPECT_EQ(run.output, "podrun: no way into /no where: this line runs in /tmp\n/tmp\n");
}

struct LineRun {
  std::string output;  ///< and standard error
  int status = -1;
  std::optional<KeptState> state;
};

class LineText : public testing::TestWithParam<std::tuple<test::Shell, std::string>> {
 protected:
  LineRun run(const std::string& line, const std::string& restored = "") {
    const auto& [sh, users] = GetParam();
    std::filesystem::remove(directory_.path("podrun.shell"));
    const std::string text = "exec 2>&1; podrun_dir=" + directory_.path() + "; " +
                             std::string(kDefineNewline) + "; " + host_text(restored, "id") +
                             line_text(line, supervisor::ShellStart::plain, assigned_names(line));
    const test::ShellRun ran = test::run_shell(sh, {"-c", text}, "", {"SHELL=" + users, "HOME=/"});
    StateFilter filter({"id"});
    std::string output(filter.pass(0, Chunk(ran.output)).bytes());
    output += filter.finish(0).bytes();
    return {output, ran.exit_status, filter.state_of(0)};
  }

  test::TempDirectory directory_;
};

std::vector<std::string> users_shells() {
  std::vector<std::string> found;
  for (const char* path : {"/bin/bash", "/bin/dash", "/bin/zsh", "/usr/bin/fish"}) {
    if (std::filesystem::exists(path)) found.emplace_back(path);
  }
  return found;
}

INSTANTIATE_TEST_SUITE_P(All, LineText,
                         testing::Combine(testing::ValuesIn(test::host_shells()),
                                          testing::ValuesIn(users_shells())),
                         [](const auto& instance) {
                           return std::get<0>(instance.param).name + "_" +
                                  std::filesystem::path(std::get<1>(instance.param)).filename().string();
                         });

TEST_P(LineText, ReportsTheDirectoryAndVariablesAtTheEnd) {
  const LineRun ran = run("cd /usr; export A='x\ty' PATH=/nowhere; cd lib; echo done");
  EXPECT_EQ(ran.output, "done\n");
  EXPECT_EQ(ran.status, 0);
  ASSERT_TRUE(ran.state);
  EXPECT_EQ(ran.state->directory, "/usr/lib");
  EXPECT_EQ(ran.state->directory_before, "/usr");
  EXPECT_EQ(ran.state->variables.at("A"), "x\ty");
  EXPECT_EQ(ran.state->variables.at("PATH"), "/nowhere");
}

TEST_P(LineText, ReportsVariablesThatAreNotExported) {
  const LineRun ran = run("A='x\ty'; export B=1; C=2; unset C; D=3 true; set -eu; false");
  ASSERT_TRUE(ran.state);
  EXPECT_THAT(ran.state->plain, ElementsAre(Pair("A", "x\ty")));
  EXPECT_EQ(ran.state->variables.at("B"), "1");
}

TEST_P(LineText, RunsSeveralLines) {
  const LineRun ran = run("for i in 1 2; do\n  echo $i\ndone\ncat <<'END'\n$a \\\nEND2\nEND\ncd /usr");
  EXPECT_EQ(ran.output, "1\n2\n$a \\\nEND2\n");
  ASSERT_TRUE(ran.state);
  EXPECT_EQ(ran.state->directory, "/usr");
}

TEST_P(LineText, RunsNothingOfSeveralLinesWithASyntaxError) {
  for (const std::string line :
       {"echo ran\nfi\necho ran", "if true\n  echo ran\nfi", "echo ran\n}\nf() {\n:"}) {
    const LineRun ran = run(line, "cd /usr; ");
    EXPECT_EQ(ran.status, 2) << line;
    EXPECT_THAT(ran.output,
                testing::AllOf(testing::Not(testing::StartsWith("ran")), testing::Not(HasSubstr("\nran\n"))))
        << line;
    ASSERT_TRUE(ran.state) << line;
    EXPECT_EQ(ran.state->directory, "/usr") << line;
  }
}

TEST_P(LineText, RunsTheLineInTheRestoredState) {
  const LineRun ran = run("pwd; echo \"$A\"", "export A='two\nlines'; cd /usr; ");
  EXPECT_EQ(ran.output, "/usr\ntwo\nlines\n");
}

TEST_P(LineText, ReportsTheStateHoweverTheShellEnds) {
  for (const auto& [line, status] :
       std::vector<std::pair<std::string, int>>{{"cd /usr; exit 3", 3},
                                                {"cd /usr; false", 1},
                                                {"cd /usr; set -eu; false", 1},
                                                {"cd /usr; kill -s INT $$; sleep 1", 130},
                                                {"cd /usr; kill -s TERM $$; sleep 1", 143}}) {
    const LineRun ran = run(line);
    EXPECT_EQ(ran.status, status) << line;
    ASSERT_TRUE(ran.state) << line;
    EXPECT_EQ(ran.state->directory, "/usr") << line;
  }
}

TEST_P(LineText, ReportsAfterASyntaxError) {
  for (const std::string line : {"echo \"x", "fi", "if", "("}) {
    const LineRun ran = run(line, "cd /usr; ");
    EXPECT_NE(ran.status, 0) << line;
    EXPECT_NE(ran.output, "") << line;
    ASSERT_TRUE(ran.state) << line;
    EXPECT_EQ(ran.state->directory, "/usr") << line;
  }
}

TEST_P(LineText, ReportsNothingIfTheShellWasReplaced) {
  const LineRun ran = run("exec sh -c 'exit 7'");
  EXPECT_EQ(ran.status, 7);
  EXPECT_FALSE(ran.state);
}

TEST_P(LineText, KeepsEveryCharacterLiteral) {
  for (const std::string word : {"a'b", "a\"b", "$HOME", "`x`", "a\\b", "*", "~", "!x", "%s", "ü"})
    EXPECT_EQ(run("printf '%s\\n' " + shell_quote(word)).output, word + "\n");
}

TEST_P(LineText, HidesTheLineFromListsOfProcesses) {
  EXPECT_THAT(run("tr '\\0' ' ' </proc/$$/cmdline; : secret").output, testing::Not(HasSubstr("secret")));
  EXPECT_EQ(run("echo \"$#,${podrun_typed-}${podrun_kept-}${podrun_inside-}\"").output, "0,\n");
}

std::string report(std::string_view state) {
  const std::string text = to_base64(state);
  const std::size_t half = text.size() / 2;
  return "~podrun1 id " + text.substr(0, half) + "\n~podrun1 id " + text.substr(half) + "\n~podrun1 id .\n";
}

/// The remaining output, if it comes in pieces of `size` bytes.
std::string pass(StateFilter& filter, std::string_view output, std::size_t size) {
  std::string rest;
  for (std::size_t at = 0; at < output.size(); at += size)
    rest += filter.pass(0, Chunk(std::string(output.substr(at, size)))).bytes();
  return rest += filter.finish(0).bytes();
}

TEST(StateFilter, RemovesTheReportHoweverItArrives) {
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

TEST(StateFilter, IgnoresAnIncompleteReport) {
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

TEST(StateFilter, BelievesNeitherOfTwoReports) {
  const std::string whole = report("/usr\0/\0A=1\0end\0"s);
  for (const std::string& more : {whole, "~podrun1 id .\n"s, "~podrun1 id x\n"s}) {
    StateFilter filter({"id"});
    EXPECT_EQ(pass(filter, "a" + whole + "b\n" + more + "c", 7), "ab\n" + more + "c");
    EXPECT_TRUE(filter.is_in_doubt(0));
    EXPECT_FALSE(filter.state_of(0));
  }
}

TEST(StateFilter, DoesNotDelayOutput) {
  StateFilter filter({"id"});
  EXPECT_EQ(filter.pass(0, Chunk("ready? ")).bytes(), "ready? ");
  EXPECT_EQ(filter.pass(0, Chunk("~user")).bytes(), "~user");
  EXPECT_EQ(filter.pass(0, Chunk("~pod")).bytes(), "");
  EXPECT_EQ(filter.pass(0, Chunk("ium\n")).bytes(), "~podium\n");
}

}  // namespace
}  // namespace podrun::shell
