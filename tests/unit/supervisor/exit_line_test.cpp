// SPDX-License-Identifier: Apache-2.0
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "podrun/supervisor/protocol.hpp"

namespace podrun::supervisor {
namespace {

using Texts = std::vector<std::string>;

constexpr std::string_view kNonce = "0123456789abcdef";
const std::string kStart = "~podrun1 0123456789abcdef exit ";

struct Read {
  std::string output;
  std::optional<int> status;
  bool is_repeated = false;
};

Read read(const Texts& pieces) {
  ExitLineReader reader(kNonce);
  Read result;
  for (const std::string& piece : pieces) result.output += reader.feed(Chunk(piece)).bytes();
  result.output += reader.finish().bytes();
  EXPECT_TRUE(reader.finish().empty());
  result.status = reader.status();
  result.is_repeated = reader.is_repeated();
  return result;
}

void expect(const Read& result, const std::string& output, std::optional<int> status) {
  EXPECT_EQ(result.output, output);
  EXPECT_EQ(result.status, status);
}

TEST(ExitLineReader, TakesTheLineOutOfTheOutput) {
  expect(read({kStart + "0\n"}), "", 0);
  expect(read({"out\n" + kStart + "42\n"}), "out\n", 42);
  expect(read({"no newline" + kStart + "255\nof a background child\n"}), "no newlineof a background child\n",
         255);
}

TEST(ExitLineReader, TakesTheLineCutAnywhere) {
  const std::string all = "~~podrun1\n" + kStart + "137\n~behind";
  for (std::size_t first = 0; first <= all.size(); ++first) {
    for (std::size_t second = first; second <= all.size(); ++second)
      expect(read({all.substr(0, first), all.substr(first, second - first), all.substr(second)}),
             "~~podrun1\n~behind", 137);
  }
}

TEST(ExitLineReader, LeavesWhatOnlyLooksLikeTheLine) {
  const Texts texts = {kStart,
                       kStart + "\n",
                       kStart + "3",
                       kStart + "256\n",
                       kStart + "1000\n",
                       kStart + "-1\n",
                       kStart + "3 \n",
                       "~podrun1 0123456789abcdee exit 3\n"};
  for (const std::string& text : texts) {
    expect(read({text}), text, std::nullopt);
    expect(read({text + kStart + "3\n" + text}), text + text, 3);
  }
}

TEST(ExitLineReader, TakesOnlyTheFirstLine) {
  expect(read({kStart + "1\n" + kStart + "2\n", kStart + "3\n"}), kStart + "2\n" + kStart + "3\n", 1);
}

TEST(ExitLineReader, SeesASecondLineCutAnywhere) {
  const std::string all = "~" + kStart + "0\nof the command\n" + kStart + "7\n~behind";
  for (std::size_t first = 0; first <= all.size(); ++first) {
    for (std::size_t second = first; second <= all.size(); ++second) {
      const Read result = read({all.substr(0, first), all.substr(first, second - first), all.substr(second)});
      expect(result, "~of the command\n" + kStart + "7\n~behind", 0);
      EXPECT_TRUE(result.is_repeated);
    }
  }
}

TEST(ExitLineReader, TakesNothingElseForASecondLine) {
  const std::string line = kStart + "3\n";
  const Texts texts = {kStart + "256\n", kStart + "\n", "~podrun1 0123456789abcdee exit 3\n", kStart + "3"};
  for (const std::string& text : texts) EXPECT_FALSE(read({line + text}).is_repeated) << text;
  const std::string before = kStart.substr(0, kStart.size() - 1);
  for (const std::size_t cut : {before.size() - 3, before.size(), before.size() + line.size()}) {
    const std::string all = before + line + " 4\n";
    EXPECT_FALSE(read({all.substr(0, cut), all.substr(cut)}).is_repeated)
        << "the two sides of the line are none";
  }
}

TEST(ExitLineReader, DelaysNothingButTheBeginningOfTheLine) {
  ExitLineReader reader(kNonce);
  EXPECT_EQ(reader.feed(Chunk("line\n")).bytes(), "line\n");
  EXPECT_EQ(reader.feed(Chunk("~/podrun1 ~")).bytes(), "~/podrun1 ");
  EXPECT_EQ(reader.feed(Chunk("podrun1 ")).bytes(), "");
  EXPECT_EQ(reader.feed(Chunk("x")).bytes(), "~podrun1 x");
  EXPECT_EQ(reader.feed(Chunk(kStart + "123")).bytes(), "");
  EXPECT_EQ(reader.feed(Chunk("4")).bytes(), kStart + "1234");
}

TEST(ExitLineReader, DoesNotCopyOutput) {
  ExitLineReader reader(kNonce);
  const Chunk chunk(std::string(Chunk::kMaxSize, '~') + "\n");
  EXPECT_EQ(reader.feed(chunk).bytes().data(), chunk.bytes().data());
}

TEST(ExitLineReader, ChangesNoByteOfAnyOutputInAnyPieces) {
  std::mt19937 random(22);
  const auto upto = [&](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most)(random);
  };
  for (int round = 0; round < 5000; ++round) {
    const auto any_text = [&] {
      std::string text;
      for (std::size_t i = upto(6); i > 0; --i) {  // beginnings and ends of the line, and any bytes
        const std::size_t cut = upto(kStart.size() - 1);
        text += upto(1) != 0 ? kStart.substr(0, cut) : kStart.substr(cut + 1);
        if (upto(3) == 0) text += std::to_string(upto(1000));
        if (upto(3) == 0) text += static_cast<char>(upto(255));
      }
      return text;
    };
    const std::string before = any_text();
    const std::string after = any_text();
    if (before.find(kStart) != std::string::npos) continue;
    const std::optional<int> status = upto(3) != 0 ? std::optional<int>(upto(255)) : std::nullopt;
    std::string all = before + (status ? kStart + std::to_string(*status) + '\n' : "") + after;
    if (!status && all.find(kStart) != std::string::npos) continue;
    Texts pieces;
    while (!all.empty()) {
      const std::size_t size = 1 + upto(upto(1) != 0 ? 2 : 60);
      pieces.push_back(all.substr(0, size));
      all.erase(0, pieces.back().size());
    }
    expect(read(pieces), before + after, status);
    if (testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace podrun::supervisor
