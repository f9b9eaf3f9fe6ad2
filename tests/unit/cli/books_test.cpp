// SPDX-License-Identifier: Apache-2.0
#include "cli/books.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace podrun::cli {
namespace {

std::string text_of(std::string_view markdown, std::size_t width = 40) {
  return page_text({"page", "page.md", markdown}, width);
}

TEST(PageText, WrapsParagraphsAndLeavesCode) {
  EXPECT_EQ(text_of("# Jobs\n\nA job goes on when the `terminal` or the\nconnection is gone.\n\n"
                    "    podrun start train -- python train.py --steps 100\n"),
            "Jobs\n----\n\nA job goes on when the terminal or the\nconnection is gone.\n\n"
            "    podrun start train -- python train.py --steps 100\n");
}

TEST(PageText, PutsACommentThatDoesNotFitBelowItsCommand) {
  EXPECT_EQ(
      text_of("    podrun ps        # which jobs there are, and their state\n    podrun stop x    # ends\n"),
      "    podrun ps\n        # which jobs there are, and\n          their state\n"
      "    podrun stop x    # ends\n");
}

TEST(PageText, NumbersAndIndentsLists) {
  EXPECT_EQ(text_of("1. one is a long item that takes two lines\n2. two\n\n* a\n\n* b\n"),
            "1. one is a long item that takes two\n   lines\n2. two\n\n* a\n\n* b\n");
}

TEST(PageText, NamesTheCommandForALinkedPage) {
  EXPECT_EQ(
      text_of("See [files.md](files.md#pull), [its keys](tasks.md), [a site](https://example.org).", 100),
      "See podrun help files, its keys (podrun help tasks), a site.\n");
  EXPECT_EQ(text_of("It is safe ([details](security.md)).", 100), "It is safe (podrun help security).\n");
}

TEST(PageText, LeavesOutCommentsAndImages) {
  EXPECT_EQ(text_of("<!-- not run -->\n\n![picture](training.svg)\n\ntext\n"), "text\n");
}

TEST(PageText, WrapsTheCellsOfATable) {
  EXPECT_EQ(text_of("| key | meaning |\n|---|---|\n| `setup`, `run` | text for bash that prepares the host "
                    "|\n| x | y |\n",
                    32),
            "key         meaning\n"
            "----------  --------------------\n"
            "setup, run  text for bash that\n"
            "            prepares the host\n"
            "x           y\n");
}

TEST(PageText, ListsTheCellsOfATableThatIsTooWide) {
  EXPECT_EQ(
      text_of("| fault | when | status |\n|---|---|---|\n| name-is-unknown | connecting | unreachable |\n",
              30),
      "name-is-unknown\n    when: connecting\n    status: unreachable\n");
}

TEST(Books, HaveASubject) {
  for (const auto& books : {pages(), examples()}) {
    for (const Book& book : books)
      EXPECT_THAT(subject_of(book), testing::Not(testing::AnyOf("", testing::HasSubstr("`"))));
  }
  EXPECT_EQ(subject_of(*find_book(examples(), "stacks")), "Shows where a stuck run is");
  EXPECT_EQ(subject_of(*find_book(pages(), "tasks.md")), "Task files");
  EXPECT_EQ(find_book(pages(), "nosuch"), nullptr);
}

}  // namespace
}  // namespace podrun::cli
