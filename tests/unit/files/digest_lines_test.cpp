// SPDX-License-Identifier: Apache-2.0
#include "podrun/files/digest_lines.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/link/failure.hpp"

namespace podrun::files {
namespace {

using testing::ElementsAre;

TEST(DigestLines, AreTakenInPiecesOfAnySize) {
  const std::string text = "ab12  ./a b\n\\cd34  ./new\\nline\nef56 *./c\nunfinished";
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, text.size()}) {
    std::vector<std::string> digests;
    DigestLines lines([&](std::string_view digest) { digests.emplace_back(digest); });
    for (std::size_t i = 0; i < text.size(); i += piece) lines.feed(std::string_view(text).substr(i, piece));
    EXPECT_THAT(digests, ElementsAre("ab12", "cd34", "ef56"));
  }
}

TEST(DigestLines, DoNotKeepAnEndlessLine) {
  DigestLines lines([](std::string_view) {});
  const std::string part(10'000, 'x');
  lines.feed(part + '\n');
  lines.feed(part);
  EXPECT_THROW(lines.feed(part), link::HostError);
}

}  // namespace
}  // namespace podrun::files
