// SPDX-License-Identifier: Apache-2.0
#include "podrun/supervisor/environment.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "podrun/base/error.hpp"

#include "support/run_shell.hpp"
#include "support/usage_error.hpp"

namespace podrun::supervisor {

void PrintTo(const Variable& variable, std::ostream* out) { *out << variable.name << '=' << variable.value; }

namespace {

using test::Texts;
using Variables = std::vector<Variable>;

std::string error_of(const std::string& text) {
  return usage_error([&] { parse_env_file(text, "job.env"); });
}

TEST(VariableName, IsALetterOrUnderscoreThenAlsoDigits) {
  for (const char* good : {"A", "_", "a1", "_9", "PODRUN_RANK"}) EXPECT_TRUE(is_variable_name(good)) << good;
  for (const char* bad : {"", "1", "a-b", "a b", "a.b", "a=", "\xc3\xa4", "a\n"})
    EXPECT_FALSE(is_variable_name(bad)) << bad;
}

TEST(TakeAssignments, TakesTheLeadingOnes) {
  Texts words = {"A=1", "_b2=x=y", "C=", "env", "D=4"};
  EXPECT_EQ(take_assignments(words), (Variables{{"A", "1"}, {"_b2", "x=y"}, {"C", ""}}));
  EXPECT_EQ(words, (Texts{"env", "D=4"}));
}

TEST(HideValues, HidesTheLeadingOnes) {
  EXPECT_EQ(hide_values("TOKEN=abc python train.py LR=3"), "TOKEN=… python train.py LR=3");
  EXPECT_EQ(hide_values(" A=1;\nB='a b'\"c\"\\ d C= \tcmd"), " A=…;\nB=… C= \tcmd");
  EXPECT_EQ(hide_values("export A=1 B=2 && env C=3 D+=4 run E=5"), "export A=… B=… && env C=… D+=… run E=5");
  EXPECT_EQ(hide_values("A=$(cat key file) B=`cat key` C=\"$(echo \"x y\")\" D=$'a\\'b c' run"),
            "A=… B=… C=… D=… run");
  EXPECT_EQ(hide_values("A=(x y) run"), "A=… run");
}

TEST(HideValues, HidesAllWhereAValueDoesNotEnd) {
  EXPECT_EQ(hide_values("A='x y z"), "A=…");
  EXPECT_EQ(hide_values("A=\"$(x y\" z"), "A=…");
}

TEST(HideValues, LeavesOtherText) {
  for (const char* text :
       {"", "python a=b", "a-b=c d", "=x", "1=2", "cd app && git pull", "exporter A=1", "a\xff=b"})
    EXPECT_EQ(hide_values(text), text);
}

TEST(TakeAssignments, KeepsBytesAndOrder) {
  Texts words = {"A=a\n'\"\xff b", "A=", "x"};
  EXPECT_EQ(take_assignments(words), (Variables{{"A", "a\n'\"\xff b"}, {"A", ""}}));
}

TEST(TakeAssignments, LeavesTheLastWordAsTheCommand) {
  Texts words = {"A=1", "B=2"};
  EXPECT_EQ(take_assignments(words), (Variables{{"A", "1"}}));
  EXPECT_EQ(words, Texts{"B=2"});
  EXPECT_EQ(take_assignments(words), Variables{});
  EXPECT_EQ(words, Texts{"B=2"});
  Texts none;
  EXPECT_EQ(take_assignments(none), Variables{});
}

TEST(TakeAssignments, StopsAtWhatIsNoName) {
  for (const char* word : {"1A=x", "=x", "a-b=x", "--opt=x", "./A=x", "A"}) {
    Texts words = {word, "B=2", "x"};
    EXPECT_EQ(take_assignments(words), Variables{}) << word;
    EXPECT_EQ(words.size(), 3U) << word;
  }
}

TEST(EnvFile, ReadsNamesAndValues) {
  EXPECT_EQ(parse_env_file("", "f"), Variables{});
  EXPECT_EQ(parse_env_file("A=1\nB=two\n_c=\n", "f"), (Variables{{"A", "1"}, {"B", "two"}, {"_c", ""}}));
  EXPECT_EQ(parse_env_file("A=1\nA=2", "f"), (Variables{{"A", "1"}, {"A", "2"}}));
  EXPECT_EQ(parse_env_file("export A=1\n \texport\tB=x=y \n", "f"), (Variables{{"A", "1"}, {"B", "x=y"}}));
}

TEST(EnvFile, IgnoresBlankLinesAndComments) {
  EXPECT_EQ(parse_env_file("\n  \t\n# it's \"a\" $comment\n   #x\nA=1 # it's one\nB=#2 \n#", "f"),
            (Variables{{"A", "1"}, {"B", "#2"}}));
}

TEST(EnvFile, ReadsCrLf) {
  EXPECT_EQ(parse_env_file("A=1\r\n\r\n# c\r\nB='2'\r\n", "f"), (Variables{{"A", "1"}, {"B", "2"}}));
}

TEST(EnvFile, UnquotesLikeSh) {
  EXPECT_EQ(parse_env_file(R"(A='a  b'"c'd"\ e)", "f"), (Variables{{"A", "a  bc'd e"}}));
  EXPECT_EQ(parse_env_file(R"(A="\$x \" \\ \n")", "f"), (Variables{{"A", R"($x " \ \n)"}}));
  EXPECT_EQ(parse_env_file("A='$x `y` ~ *'\nB=*\nC=~", "f"),
            (Variables{{"A", "$x `y` ~ *"}, {"B", "*"}, {"C", "~"}}));
  EXPECT_EQ(parse_env_file("A='x #y'\nB=\"x #y\"\nC=x#y", "f"),
            (Variables{{"A", "x #y"}, {"B", "x #y"}, {"C", "x#y"}}));
}

TEST(EnvFile, ReadsQuotesOverLines) {
  EXPECT_EQ(parse_env_file("A='1\n2\n'\nB=\"3\n# 4\"\nC=5\\\n6\n", "f"),
            (Variables{{"A", "1\n2\n"}, {"B", "3\n# 4"}, {"C", "56"}}));
}

TEST(EnvFile, KeepsBytes) {
  EXPECT_EQ(parse_env_file("A='\xff\x01\t\xc3\xa4'", "f"), (Variables{{"A", "\xff\x01\t\xc3\xa4"}}));
}

TEST(EnvFile, NamesTheLineOfAnError) {
  const std::string expected = "expected NAME=VALUE, one a line (quote a value with blanks)";
  EXPECT_EQ(error_of("A=1 B=2"), "job.env:1: " + expected);
  EXPECT_EQ(error_of("A=1\n\nB = 2"), "job.env:3: " + expected);
  EXPECT_EQ(error_of("A=1\n1B=2"), "job.env:2: " + expected);
  EXPECT_EQ(error_of("=2"), "job.env:1: " + expected);
  EXPECT_EQ(error_of("''"), "job.env:1: " + expected);
  EXPECT_EQ(error_of("export A"), "job.env:1: " + expected);
  EXPECT_EQ(error_of("export export A=1"), "job.env:1: " + expected);
  EXPECT_EQ(error_of("A: 1"), "job.env:1: " + expected);
  EXPECT_EQ(error_of("\xef\xbb\xbf"
                     "A=1"),
            "job.env:1: " + expected);
}

TEST(EnvFile, CountsTheLinesInQuotes) {
  EXPECT_EQ(error_of("A='1\n2\n'\nB=\\\n3\n# it's\nbad line"),
            "job.env:7: expected NAME=VALUE, one a line (quote a value with blanks)");
}

TEST(EnvFile, RefusesWhatAShellWouldExpand) {
  for (const char c : {'$', '`', '|', '&', ';', '<', '>', '(', ')'}) {
    EXPECT_EQ(
        error_of(fmt::format("A=1\nB=a{}b", c)),
        fmt::format("job.env:2: unquoted \"{}\" (nothing is expanded here; to mean it literally put it in "
                    "single quotes)",
                    c));
  }
  EXPECT_EQ(error_of("A=\"$HOME\""),
            "job.env:1: unquoted \"$\" (nothing is expanded here; to mean it literally put it in single "
            "quotes)");
}

TEST(EnvFile, RefusesOpenQuotesAndNul) {
  EXPECT_EQ(error_of("A=1\nB='x\ny\n"), "job.env:2: a single quote is not closed (add the second one)");
  EXPECT_EQ(error_of("A=1\n\nB=\"x\ny\n"), "job.env:3: a double quote is not closed (add the second one)");
  EXPECT_EQ(error_of("A=x\\"), "job.env:1: a backslash at the end quotes nothing (write two)");
  EXPECT_EQ(error_of(std::string("A=1\nB=a\0b", 9)), "job.env:2: a NUL byte (values are text)");
}

TEST(EnvFile, ReadsAQuotedBlankBeforeAHashAsText) {
  EXPECT_EQ(parse_env_file("A=a\\ #b\n", "f"), (Variables{{"A", "a #b"}}));
}

TEST(EnvFile, RefusesExportWithoutAName) {
  EXPECT_EQ(error_of("export\n"), "job.env:1: expected NAME=VALUE, one a line (quote a value with blanks)");
}

class EnvFileIn : public testing::TestWithParam<test::Shell> {};
INSTANTIATE_TEST_SUITE_P(Shells, EnvFileIn, testing::ValuesIn(test::shells()), test::ShellName());

TEST_P(EnvFileIn, ReadsWhatItTakesAsTheShellDoes) {
  constexpr std::string_view kBytes = "ab  \t''\"\"\\\\#\n=";
  std::mt19937 random(5);
  std::uniform_int_distribution<std::size_t> size(0, 12);
  std::uniform_int_distribution<std::size_t> byte(0, kBytes.size() - 1);
  Texts texts;
  Texts values;
  while (texts.size() < 300) {
    std::string text = "A=";
    for (std::size_t i = size(random); i > 0; --i) text += kBytes[byte(random)];
    try {
      const Variables variables = parse_env_file(text, "f");
      if (variables.size() != 1) continue;
      texts.push_back(text);
      values.push_back(variables.front().value);
    } catch (const UsageError&) {
    }
  }
  Texts words = {"-c", "for text; do (eval \"$text\" && printf '%s\\0' \"$A\") || printf 'none\\0'; done",
                 "sh"};
  words.insert(words.end(), texts.begin(), texts.end());
  const Texts read = test::split_at_nul(test::run_shell(GetParam(), words).output);
  ASSERT_EQ(read.size(), values.size());
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(values[i], read[i]) << "<<" << texts[i] << ">>";
}

}  // namespace
}  // namespace podrun::supervisor
