// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/line_splitter.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/base/chunk.hpp"

namespace podrun::output {
namespace {

using testing::ElementsAre;
using testing::Pair;

using Lines = std::vector<std::pair<std::string, LineEnd>>;

constexpr LineEnd kNewline = LineEnd::newline;
constexpr LineEnd kEnd = LineEnd::end_of_stream;
constexpr LineEnd kPiece = LineEnd::piece;

void feed(LineSplitter& splitter, std::string_view bytes, Lines& lines) {
  while (const auto line = splitter.next(bytes)) lines.emplace_back(line->text, line->end);
}

void end(LineSplitter& splitter, Lines& lines) {
  if (const auto last = splitter.end()) lines.emplace_back(last->text, last->end);
}

/// A plain implementation: cuts the whole text at newlines, then at the limit.
Lines split_by_the_book(std::string_view text, std::size_t limit) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    std::string_view line = text.substr(0, newline);
    for (; line.size() > limit; line.remove_prefix(limit)) lines.emplace_back(line.substr(0, limit), kPiece);
    lines.emplace_back(line, newline == std::string_view::npos ? kEnd : kNewline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
  }
  return lines;
}

TEST(LineSplitter, EndsLinesAtNewlinesOnly) {
  LineSplitter splitter(100);
  Lines lines;
  feed(splitter, std::string_view("a\r\n\n\0b\xff\x1b[K\rc", 13), lines);
  EXPECT_THAT(lines, ElementsAre(Pair("a\r", kNewline), Pair("", kNewline)));
  end(splitter, lines);
  EXPECT_EQ(lines.back(), std::pair(std::string("\0b\xff\x1b[K\rc", 9), kEnd));
}

TEST(LineSplitter, HasNothingToEndAfterANewline) {
  LineSplitter splitter(100);
  Lines lines;
  feed(splitter, "a", lines);
  feed(splitter, "b\n", lines);
  end(splitter, lines);
  EXPECT_THAT(lines, ElementsAre(Pair("ab", kNewline)));
}

TEST(LineSplitter, CutsOnlyWhatIsLongerThanTheLimit) {
  LineSplitter splitter(4);
  Lines lines;
  feed(splitter, "abcd\nabcde\nabcdabcd", lines);
  end(splitter, lines);
  EXPECT_THAT(lines, ElementsAre(Pair("abcd", kNewline), Pair("abcd", kPiece), Pair("e", kNewline),
                                 Pair("abcd", kPiece), Pair("abcd", kEnd)));
}

TEST(LineSplitter, DoesNotCopyLinesThatLieWithinTheBytesGiven) {
  LineSplitter splitter(100);
  const std::string bytes = "one\ntwo\n";
  std::string_view rest = bytes;
  EXPECT_EQ(splitter.next(rest)->text.data(), bytes.data());
  EXPECT_EQ(splitter.next(rest)->text.data(), bytes.data() + 4);
}

TEST(LineSplitter, SplitsAlikeHoweverTheBytesAreCut) {
  std::mt19937 random(20240607);
  const auto below = [&random](std::size_t bound) { return std::size_t{random()} % bound; };
  for (int round = 0; round < 3000; ++round) {
    std::string text(below(200), '\0');
    for (char& byte : text) byte = below(8) == 0 ? '\n' : static_cast<char>(below(256));
    const std::size_t limit = 1 + below(30);
    LineSplitter splitter(limit);
    Lines lines;
    for (std::string_view rest = text; !rest.empty();) {
      const std::string_view cut = rest.substr(0, 1 + below(50));
      feed(splitter, std::string(cut), lines);
      rest.remove_prefix(cut.size());
    }
    end(splitter, lines);
    ASSERT_EQ(lines, split_by_the_book(text, limit)) << "round " << round;
  }
}

TEST(LineSplitter, GivesAVeryLongLineInPiecesThatJoinToIt) {
  constexpr std::size_t kMiB = 1024 * 1024;
  const std::string bytes(Chunk::kMaxSize, 'x');
  LineSplitter splitter(kMiB);
  std::size_t pieces = 0;
  for (std::size_t given = 0; given < 64 * kMiB; given += bytes.size()) {
    std::string_view rest = bytes;
    while (const auto line = splitter.next(rest)) {
      ASSERT_EQ(line->text.size(), kMiB);
      ASSERT_EQ(line->end, kPiece);
      ++pieces;
    }
  }
  EXPECT_EQ(pieces, 63U);
  const auto last = splitter.end();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->text.size(), kMiB);
  EXPECT_EQ(last->end, kEnd);
}

TEST(LineLimit, SharesABoundAmongTheHosts) {
  EXPECT_EQ(line_limit(0), 1024U * 1024);
  EXPECT_EQ(line_limit(64), 1024U * 1024);
  EXPECT_EQ(line_limit(128), 512U * 1024);
  EXPECT_EQ(line_limit(5000), 64U * 1024);
}

}  // namespace
}  // namespace podrun::output
