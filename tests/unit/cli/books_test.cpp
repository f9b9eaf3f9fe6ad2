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
            "# Jobs\n\nA job goes on when the `terminal` or the\nconnection is gone.\n\n"
            "    podrun start train -- python train.py --steps 100\n");
  EXPECT_EQ(text_of("```yaml\ndefaults:\n\n  fanout: 3\n```\n"), "    defaults:\n\n      fanout: 3\n");
}

TEST(PageText, PutsACommentThatDoesNotFitBelowItsCommand) {
  EXPECT_EQ(
      text_of("    podrun ps        # which jobs there are, and their state\n    podrun stop x    # ends\n"),
      "    podrun ps\n        # which jobs there are, and\n          their state\n"
      "    podrun stop x    # ends\n");
}

TEST(PageText, IndentsLists) {
  EXPECT_EQ(text_of("1. one is a long item\n   that takes two lines\n2. two\n\n* a\n\n* b\n"),
            "1. one is a long item that takes two\n   lines\n2. two\n\n* a\n\n* b\n");
  EXPECT_EQ(text_of("* an item with a paragraph that\n  follows:\n\n  this one\n\n      code\n"),
            "* an item with a paragraph that follows:\n\n  this one\n\n      code\n");
}

TEST(PageText, NamesTheCommandForALinkedPage) {
  EXPECT_EQ(text_of("See [copies](files.md#pull), [keys](#keys), [a site](https://example.org).", 100),
            "See copies (podrun help files), keys, a site.\n");
  EXPECT_EQ(text_of("[`a[0]`](jobs.md#x): safe ([details](security.md)), [files.md](files.md).", 100),
            "`a[0]` (podrun help jobs): safe (podrun help security), podrun help files.\n");
}

TEST(PageText, LeavesOutCommentsAndImages) {
  EXPECT_EQ(text_of("<!-- not run:\nwhy -->\n\n![picture](training.svg)\n\ntext\n"), "text\n");
}

TEST(PageText, ListsTheCellsOfARow) {
  EXPECT_EQ(text_of("| key | meaning |\n|---|---|\n| `a \\| b` | text for bash that prepares the host |\n"
                    "| x | y |\n\ntext\n"),
            "`a | b`\n    text for bash that prepares the host\nx\n    y\n\ntext\n");
  EXPECT_EQ(text_of("| fault | when | status |\n|---|---|---|\n| it is unknown | connecting | |\n"),
            "it is unknown\n    when: connecting\n");
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
