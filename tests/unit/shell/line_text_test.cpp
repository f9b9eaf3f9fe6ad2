// SPDX-License-Identifier: Apache-2.0
// A line of `podrun shell` as a host evaluates it: in the shells that may be /bin/sh there, and in those that
// may be the user's.
#include "podrun/shell/line_text.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/base/shell_quote.hpp"
#include "podrun/shell/state_filter.hpp"

#include "support/run_shell.hpp"
#include "support/temp_directory.hpp"

namespace podrun::shell {
namespace {

using testing::HasSubstr;

struct LineRun {
  std::string output;  ///< with that on standard error
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
                             line_text(line, remote::ShellStart::plain);
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

TEST_P(LineText, ReportsWhereTheLineEndsAndItsVariables) {
  const LineRun ran = run("cd /usr; export A='x\ty' PATH=/nowhere; cd lib; echo done");
  EXPECT_EQ(ran.output, "done\n");
  EXPECT_EQ(ran.status, 0);
  ASSERT_TRUE(ran.state);
  EXPECT_EQ(ran.state->directory, "/usr/lib");
  EXPECT_EQ(ran.state->directory_before, "/usr");
  EXPECT_EQ(ran.state->variables.at("A"), "x\ty");
  EXPECT_EQ(ran.state->variables.at("PATH"), "/nowhere");
}

TEST_P(LineText, BeginsWithWhatIsRestored) {
  const LineRun ran = run("pwd; echo \"$A\"", "export A='two\nlines'; cd /usr; ");
  EXPECT_EQ(ran.output, "/usr\ntwo\nlines\n");
}

TEST_P(LineText, ReportsAfterEveryEnd) {
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

TEST_P(LineText, ReportsNothingForAShellThatWasReplaced) {
  const LineRun ran = run("exec sh -c 'exit 7'");
  EXPECT_EQ(ran.status, 7);
  EXPECT_FALSE(ran.state);
}

TEST_P(LineText, TakesEveryCharacterLiterally) {
  for (const std::string word : {"a'b", "a\"b", "$HOME", "`x`", "a\\b", "*", "~", "!x", "%s", "ü"})
    EXPECT_EQ(run("printf '%s\\n' " + shell_quote(word)).output, word + "\n");
}

TEST_P(LineText, HidesTheLineFromListsOfProcesses) {
  EXPECT_THAT(run("tr '\\0' ' ' </proc/$$/cmdline; : secret").output, testing::Not(HasSubstr("secret")));
  EXPECT_EQ(run("echo \"$#,${podrun_typed-}${podrun_kept-}${podrun_inside-}\"").output, "0,\n");
}

}  // namespace
}  // namespace podrun::shell
