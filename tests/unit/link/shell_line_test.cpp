// SPDX-License-Identifier: Apache-2.0
#include "podrun/link/shell_line.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "podrun/remote/protocol.hpp"

#include "support/run_shell.hpp"

namespace podrun {
namespace {

using test::Texts;

class ShellLine : public testing::TestWithParam<test::Shell> {};
INSTANTIATE_TEST_SUITE_P(Shells, ShellLine, testing::ValuesIn(test::shells()), test::ShellName());

TEST_P(ShellLine, PassesScriptAndArgumentsOnUnchanged) {
  Texts words = test::awkward_words(7);
  words.resize(std::min<std::size_t>(words.size(), 300));
  const Program program{Chunk("kill -s 0 $$ && sleep 0 & wait $! && printf '%s\\0' \"$@\""), words};
  const auto run = test::run_shell(GetParam(), {}, shell_line(program), {"LC_ALL=C.UTF-8"});
  EXPECT_EQ(test::split_at_nul(run.output), words);
  EXPECT_EQ(run.exit_status, 0);
}

/// A start-up file of the host may have read some of it, or the connection may end in it.
TEST_P(ShellLine, RunsNothingOfALineThatIsNotWhole) {
  const std::string script = "echo ran; x() { echo ran; }; x; if :; then echo ran; fi; (echo ran)";
  const std::string line = shell_line({Chunk(script), {"a", "b c"}});
  EXPECT_NE(test::run_shell(GetParam(), {}, line).output, "");
  for (std::size_t cut = 1; cut < line.size(); ++cut) {
    EXPECT_EQ(test::run_shell(GetParam(), {}, line.substr(cut)).output, "") << line.substr(cut);
    if (cut + 1 == line.size()) break;  // without its newline it is whole
    EXPECT_EQ(test::run_shell(GetParam(), {}, line.substr(0, cut)).output, "") << line.substr(0, cut);
  }
}

TEST(ShellLineText, IsOneLine) {
  const std::string line = shell_line({Chunk("echo \"$1\""), {"a\nb"}});
  EXPECT_EQ(line.find('\n'), line.size() - 1);
}

}  // namespace
}  // namespace podrun
