// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/wrap.hpp"

#include <gtest/gtest.h>

namespace podrun::output {
namespace {

TEST(Wrap, BreaksBetweenWords) {
  EXPECT_EQ(wrap("one two three", 8), "one two\nthree");
  EXPECT_EQ(wrap("one two three", 10, 2), "one two\n  three");
  EXPECT_EQ(wrap("a-word-that-is-too-long is", 8), "a-word-that-is-too-long\nis");
  EXPECT_EQ(wrap("日本 日本", 8), "日本\n日本");
  EXPECT_EQ(wrap("", 8), "");
}

TEST(WrapMessage, IndentsBelowThePrefix) {
  EXPECT_EQ(wrap_message("podrun: the host key has changed", 24),
            "podrun: the host key has\n        changed");
  EXPECT_EQ(wrap_message("podrun: two  blanks", 24), "podrun: two  blanks");
  EXPECT_EQ(wrap_message("3: a line of a host stays as it is", 24), "3: a line of a host stays as it is");
}

TEST(WrapMessage, NeverBreaksACommand) {
  EXPECT_EQ(wrap_message("podrun: train runs already (podrun stop train stops it)", 42),
            "podrun: train runs already\n        (podrun stop train stops it)");
  EXPECT_EQ(
      wrap_message("podrun: retry on just these: podrun --workers 9 -0 --chdir mlp -- python3 train.py", 40),
      "podrun: retry on just these:\n        podrun --workers 9 -0 --chdir mlp -- python3 train.py");
}

TEST(WrapMessage, KeepsATextThatIsToBeCopiedInOnePiece) {
  const std::string command = "podrun --workers 3 -- '[ $PODRUN_RANK = 3 ] && (exit 4; ); echo done'";
  EXPECT_EQ(wrap_message("podrun: retry on just these: " + command, 40),
            "podrun: retry on just these:\n        " + command);
  EXPECT_EQ(wrap_message("podrun: no command (did you mean podrun hosts?); or another", 52),
            "podrun: no command (did you mean podrun hosts?); or\n        another");
}

TEST(WrapMessage, BreaksProseThatNamesPodrun) {
  EXPECT_EQ(wrap_message("podrun: gone: podrun finds it again by its name in this file", 32),
            "podrun: gone: podrun finds it\n        again by its name in\n        this file");
}

}  // namespace
}  // namespace podrun::output
