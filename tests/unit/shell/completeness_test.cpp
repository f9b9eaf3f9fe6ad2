// SPDX-License-Identifier: Apache-2.0
// When podrun shell asks for a further line. The parser is a shell of this machine, as the user's, and each
// other one that may take its place.
#include "podrun/shell/completeness.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "podrun/local/spawn.hpp"

#include "support/temp_directory.hpp"

namespace podrun::shell {
namespace {

Parser parser(const std::string& shell) {
  return [shell](const std::string& text) -> std::optional<Parsed> {
    std::vector<std::string> words = {shell, "-n"};
    if (shell == "busybox") words.insert(words.begin() + 1, "sh");
    const local::CommandOutput ended = local::run_on_text(words, text + '\n');
    if (!ended.status) return std::nullopt;
    return Parsed{*ended.status == 0, ended.error};
  };
}

class Completes : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!parser(GetParam())("true")) GTEST_SKIP() << GetParam() << " is not installed";
  }
};
INSTANTIATE_TEST_SUITE_P(Of, Completes, testing::Values("bash", "dash", "busybox", "ksh", "mksh"),
                         [](const auto& instance) { return instance.param; });

TEST_P(Completes, AsksForMore) {
  for (const std::string text : {"if true; then",
                                 "if true; then\necho a",
                                 "for i in 1 2",
                                 "for i in 1 2; do",
                                 "while read x; do",
                                 "case a in",
                                 "case a in b) echo x;",
                                 "{ echo",
                                 "( echo",
                                 "echo \"a",
                                 "echo 'a\nb",
                                 "echo `a",
                                 "echo $(a",
                                 "echo ${a",
                                 "cat <<E",
                                 "cat <<E\nx",
                                 "cat <<'E'\nif\nfi",
                                 "cat <<A <<B\nx\nA",
                                 "echo a |",
                                 "echo a &&",
                                 "echo a ||",
                                 "echo a \\",
                                 "f() {",
                                 "echo 'fi' && if true; then # a comment"}) {
    EXPECT_EQ(judge(text, parser(GetParam())), Completeness::open) << text;
  }
}

TEST_P(Completes, TakesWholeCommands) {
  for (const std::string text : {"", "# a comment", "echo a", "echo 'a\nb'", "if true; then\necho a\nfi",
                                 "cat <<E\nx\nE", "cat <<A <<B\nx\nA\ny\nB", "echo a # b \\", "echo '<<'",
                                 "echo \\\\", "echo a \\\nb", "f() { echo; }"}) {
    EXPECT_EQ(judge(text, parser(GetParam())), Completeness::whole) << text;
  }
}

TEST_P(Completes, KnowsErrorsThatNoFurtherLineCorrects) {
  for (const std::string text :
       {"fi", "echo a; fi", "if true\nrm -rf x\nfi", "ls )", "echo a;;", "echo EOF )", "cat <<E\nx\nE\nfi"}) {
    EXPECT_EQ(judge(text, parser(GetParam())), Completeness::wrong) << text;
  }
}

TEST(Parse, TakesEachLineWithoutAShell) {
  const Parser none = [](const std::string&) { return std::optional<Parsed>(); };
  EXPECT_EQ(judge("if true", none), Completeness::whole);
  EXPECT_EQ(judge("cat <<E", none), Completeness::whole);
}

TEST(Parse, RunsNothing) {
  const test::TempDirectory directory;
  for (const std::string before : {"", "set +n; ", "cat <<E\n", "echo \\\n"}) {
    const std::string file = directory.path("ran");
    const std::string touch = "touch " + file;
    for (const std::string& text : {touch, "$(" + touch + ")", "`" + touch + "`", "<(" + touch + ")",
                                    "trap '" + touch + "' EXIT", "a[$(" + touch + ")]=1"}) {
      EXPECT_TRUE(parse_here(before + text));
      EXPECT_FALSE(std::filesystem::exists(file)) << text;
    }
  }
}

}  // namespace
}  // namespace podrun::shell
