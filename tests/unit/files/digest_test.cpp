// SPDX-License-Identifier: Apache-2.0
#include "podrun/files/digest.hpp"

#include <string>

#include <gtest/gtest.h>

namespace podrun::files {
namespace {

// RFC 7693, appendix A
const std::string kBlakeOfAbc =
    "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
    "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923";
// FIPS 180-4, example of SHA-256
const std::string kShaOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Digest, IsThatOfAllBytes) {
  Digest blake(DigestKind::blake2b);
  blake.update("a");
  blake.update("");
  blake.update("bc");
  EXPECT_EQ(blake.finish(), kBlakeOfAbc);
  Digest sha(DigestKind::sha256);
  sha.update("abc");
  EXPECT_EQ(sha.finish(), kShaOfAbc);
}

}  // namespace
}  // namespace podrun::files
