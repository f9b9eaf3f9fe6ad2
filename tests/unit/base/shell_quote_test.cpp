// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/shell_quote.hpp"

#include <gtest/gtest.h>

#include "podrun/base/error.hpp"

#include "support/run_shell.hpp"

namespace podrun {
namespace {

using test::Texts;

TEST(ShellQuote, LeavesPlainWordsPlain) {
  for (const char* word : {"ls", "-la", "/usr/bin/env", "a.b,c:d@e_f", "50%", "+x"}) {
    EXPECT_EQ(shell_quote(word), word);
    EXPECT_EQ(shell_quote_in_line(word), word);
  }
  EXPECT_EQ(shell_quote(""), "''");
  EXPECT_EQ(shell_quote("a=b"), "'a=b'");
  EXPECT_EQ(shell_quote("it's"), R"('it'\''s')");
  EXPECT_EQ(shell_quote(Texts{"echo", "a b", ""}), "echo 'a b' ''");
  EXPECT_EQ(shell_quote(Texts{}), "");
}

TEST(ShellQuote, PutsAnyWordIntoOneLine) {
  for (const std::string& word : test::awkward_words(1)) {
    EXPECT_EQ(shell_quote_in_line(word).find('\n'), std::string::npos);
  }
}

TEST(ShellQuote, IsUndoneBySplitShellWords) {
  const Texts words = test::awkward_words(2);
  EXPECT_EQ(split_shell_words(shell_quote(words)), words);
}

class ShellQuoteIn : public testing::TestWithParam<test::Shell> {
 protected:
  /// printf may be no builtin, and then takes only so many bytes at once.
  static constexpr std::size_t kWordsAtOnce = 400;
};
INSTANTIATE_TEST_SUITE_P(Shells, ShellQuoteIn, testing::ValuesIn(test::shells()), test::ShellName());

TEST_P(ShellQuoteIn, ReadsBackAsTheseBytes) {
  const Texts words = test::awkward_words(3);
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i % kWordsAtOnce == 0) text += "\nprintf '%s\\0'";
    text += ' ' + shell_quote(words[i]);
  }
  for (const char* locale : {"LC_ALL=C", "LC_ALL=C.UTF-8"}) {
    EXPECT_EQ(test::split_at_nul(test::run_shell(GetParam(), {"-s"}, text + '\n', {locale}).output), words)
        << locale;
  }
}

TEST_P(ShellQuoteIn, ReadsBackOutOfOneLineAsTheseBytes) {
  // In a UTF-8 locale bash's read drops a byte 1 after the first byte of a character.
  const std::string text = "IFS= LC_ALL=C read -r line; eval \"$line\"";
  const Texts words = test::awkward_words(4);
  std::string line = std::string(kDefineNewline) + "; printf '%s\\0'";
  for (const std::string& word : words) line += ' ' + shell_quote_in_line(word);
  for (const char* locale : {"LC_ALL=C", "LC_ALL=C.UTF-8"}) {
    const test::ShellRun run = test::run_shell(GetParam(), {"-c", text}, line + '\n', {locale});
    EXPECT_EQ(test::split_at_nul(run.output), words) << locale;
  }
}

TEST_P(ShellQuoteIn, KeepsWordsBeforeACommandFromActing) {
  const Texts words = {"A=b", "~", "=ls", "!"};
  std::string text = "f() { printf '%s\\0' \"$@\"; }\n";
  for (const std::string& word : words) text += shell_quote(word) + " || f $?\n";
  EXPECT_EQ(test::split_at_nul(test::run_shell(GetParam(), {"-s"}, "exec 2>/dev/null\n" + text).output),
            Texts(words.size(), "127"));
}

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
