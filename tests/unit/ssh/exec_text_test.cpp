// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/exec_text.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "support/run_shell.hpp"

namespace podrun {
namespace {

using test::Texts;

/// A shell as sshd starts it for a command: `shell -c text`.
std::vector<test::Shell> login_shells() {
  std::vector<test::Shell> all = {{"dash", {"dash"}}, {"bash", {"bash"}}, {"busybox", {"busybox", "sh"}}};
  for (const char* name : {"tcsh", "fish", "zsh", "mksh"}) {
    if (std::filesystem::exists(std::filesystem::path("/usr/bin") / name)) all.push_back({name, {name}});
  }
  return all;
}

class ExecTextIn : public testing::TestWithParam<test::Shell> {};
INSTANTIATE_TEST_SUITE_P(LoginShells, ExecTextIn, testing::ValuesIn(login_shells()), test::ShellName());

TEST_P(ExecTextIn, PassesScriptAndArgumentsOnUnchanged) {
  Texts words = test::awkward_words(7);
  words.resize(std::min<std::size_t>(words.size(), 300));
  std::erase_if(words, [](const std::string& word) { return word.find('\n') != std::string::npos; });
  for (const char* word :
       {"!", "!!", "a!b", "\\", "\\\\", "\\'", "'\\''", "$!", "$(id)", "~", "{a,b}", "%1", "^a^b"})
    words.emplace_back(word);
  const Program program{"kill -s 0 $$ && sleep 0 & wait $! && printf '%s\\0' \"$@\"", words};
  const auto run = test::run_shell(GetParam(), {"-c", exec_text(program)}, "", {"LC_ALL=C.UTF-8"});
  EXPECT_EQ(test::split_at_nul(run.output), words);
  EXPECT_EQ(run.exit_status, 0);
}

TEST(ExecText, GoesThroughSudoWithoutAQuestion) {
  EXPECT_EQ(exec_text({"id", {"a b"}, Privilege::root}), "exec sudo -n /bin/sh -c 'id' podrun 'a b'");
}

TEST(ExecText, RefusesANewline) { EXPECT_THROW(exec_text({"id", {"a\nb"}}), HostError); }

}  // namespace
}  // namespace podrun
