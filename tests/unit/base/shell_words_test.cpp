// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/shell_words.hpp"

#include <gtest/gtest.h>

#include "podrun/base/error.hpp"

namespace podrun {
namespace {

using Words = std::vector<std::string>;

TEST(ShellWords, SplitsAndUnquotesLikeTheShell) {
  EXPECT_EQ(split_shell_words(""), Words{});
  EXPECT_EQ(split_shell_words("  ssh -p 22\t{host} \n"), (Words{"ssh", "-p", "22", "{host}"}));
  EXPECT_EQ(split_shell_words("a'b c'\"d e\"f\\ g"), (Words{"ab cd ef g"}));
  EXPECT_EQ(split_shell_words("'' \"\""), (Words{"", ""}));
  EXPECT_EQ(split_shell_words(R"("\$x \a \" \\")"), (Words{R"($x \a " \)"}));
  EXPECT_EQ(split_shell_words("'$x `y` |'"), (Words{"$x `y` |"}));
  EXPECT_EQ(split_shell_words("a#b *.c ?"), (Words{"a#b", "*.c", "?"}));
}

TEST(ShellWords, RefusesWhatAShellWouldActOn) {
  for (const char* bad :
       {"$x", "\"$x\"", "`id`", "a|b", "a;b", "a&", "<a", "(a)", "'open", "\"open", "end\\"}) {
    EXPECT_THROW(split_shell_words(bad), UsageError) << bad;
  }
}

}  // namespace
}  // namespace podrun
