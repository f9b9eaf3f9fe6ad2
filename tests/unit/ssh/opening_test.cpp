// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/transport/opening.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace podrun::ssh {
namespace {

std::string number(std::size_t value) {
  return {'\0', '\0', static_cast<char>(value >> 8U), static_cast<char>(value)};
}
std::string list(const std::string& names) { return number(names.size()) + names; }

/// RFC 4253 7.1, with these first two lists.
std::string kexinit(const std::string& kex, const std::string& host_keys) {
  std::string payload = "\x14" + std::string(16, 'c') + list(kex) + list(host_keys);
  for (int i = 2; i < 10; ++i) payload += list("none");
  payload += std::string(5, '\0');
  return number(payload.size() + 5) + '\x04' + payload + "pad.";
}

TEST(LineBeforeVersion, IsTheFirstOneThatIsNotBlank) {
  EXPECT_EQ(line_before_version(""), "");
  EXPECT_EQ(line_before_version(" \r\n"), "");
  EXPECT_EQ(line_before_version("Not allowed at this time\r\n"), "Not allowed at this time");
  EXPECT_EQ(line_before_version("\r\n  cut off"), "cut off");
  EXPECT_EQ(line_before_version("one\ntwo\n"), "one");
  EXPECT_EQ(line_before_version("SSH-2.0-x\r\nKex"), "");
}

TEST(LineBeforeVersion, IsShortened) {
  EXPECT_EQ(line_before_version(std::string(200, 'x')), std::string(200, 'x'));
  EXPECT_EQ(line_before_version(std::string(201, 'x')), std::string(200, 'x') + "…");
}

TEST(OfferedAlgorithms, AreTheListsOfAWholeMessage) {
  const std::string opening = "A greeting\r\nSSH-2.0-x\r\n" + kexinit("a,b", "c");
  EXPECT_THAT(
      offered_algorithms(opening + "more"),
      testing::ElementsAre("a,b", "c", "none", "none", "none", "none", "none", "none", "none", "none"));
  for (std::size_t size = 0; size < opening.size(); ++size)
    EXPECT_THAT(offered_algorithms(opening.substr(0, size)), testing::IsEmpty()) << size;
}

TEST(OfferedAlgorithms, AreNoneInAMessageWhoseLengthsAreWrong) {
  std::string opening = "SSH-2.0-x\r\n" + kexinit("a,b", "c");
  const std::size_t lists = opening.find("a,b") - 1;
  opening[lists] = '\x7f';
  EXPECT_THAT(offered_algorithms(opening), testing::IsEmpty());
  EXPECT_THAT(offered_algorithms("SSH-2.0-x\r\n" + number(2) + "\x04\x14"), testing::IsEmpty());
  EXPECT_THAT(offered_algorithms("SSH-2.0-x\r\n\xff\xff\xff\xff\x04\x14"), testing::IsEmpty());
}

TEST(NoMatch, TellsWhichLibsshIsNeeded) {
  EXPECT_EQ(no_match("kex algos", "mlkem768x25519-sha256", "a,b", "0.10.6/openssl/zlib"),
            "no match for method kex algos: server [mlkem768x25519-sha256], podrun with libssh 0.10.6 [a,b] "
            "(mlkem and sntrup need libssh 0.12)");
  EXPECT_EQ(no_match("kex algos", "c", "a,b", "0.10.6"),
            "no match for method kex algos: server [c], podrun with libssh 0.10.6 [a,b]");
  EXPECT_EQ(no_match("kex algos", "sntrup761x25519-sha512", "mlkem768x25519-sha256", "0.12.2"),
            "no match for method kex algos: server [sntrup761x25519-sha512], podrun with libssh 0.12.2 "
            "[mlkem768x25519-sha256]");
}

TEST(CommonName, IsAWholeName) {
  EXPECT_TRUE(have_common_name("a,b", "c,b"));
  EXPECT_FALSE(have_common_name("a,b", "ab,c"));
  EXPECT_FALSE(have_common_name("", "a"));
}

}  // namespace
}  // namespace podrun::ssh
