// SPDX-License-Identifier: Apache-2.0
#include "podrun/transfer/digest.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/link/failure.hpp"

namespace podrun::transfer {
namespace {

using testing::ElementsAre;

// RFC 7693, appendix A
const std::string kBlakeOfAbc =
    "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
    "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923";
// FIPS 180-4, example of SHA-256
const std::string kShaOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Digest, CoversAllBytes) {
  Digest blake(DigestKind::blake2b);
  blake.update("a");
  blake.update("");
  blake.update("bc");
  EXPECT_EQ(blake.finish(), kBlakeOfAbc);
  Digest sha(DigestKind::sha256);
  sha.update("abc");
  EXPECT_EQ(sha.finish(), kShaOfAbc);
}

TEST(DigestLines, ReadsPiecesOfAnySize) {
  const std::string text = "ab12  ./a b\n\\cd34  ./new\\nline\nef56 *./c\nunfinished";
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, text.size()}) {
    std::vector<std::string> digests;
    DigestLines lines([&](std::string_view digest) { digests.emplace_back(digest); });
    for (std::size_t i = 0; i < text.size(); i += piece) lines.feed(std::string_view(text).substr(i, piece));
    EXPECT_THAT(digests, ElementsAre("ab12", "cd34", "ef56"));
  }
}

TEST(DigestLines, RefusesAnEndlessLine) {
  DigestLines lines([](std::string_view) {});
  const std::string part(10'000, 'x');
  lines.feed(part + '\n');
  lines.feed(part);
  EXPECT_THROW(lines.feed(part), link::HostError);
}

}  // namespace
}  // namespace podrun::transfer
