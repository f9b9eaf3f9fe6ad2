// SPDX-License-Identifier: Apache-2.0
#include "podrun/transfer/scan_reply.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/link/failure.hpp"

#include "support/run_shell.hpp"

namespace podrun::transfer {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using Texts = std::vector<std::string>;

struct Read {
  ScanHeader header;
  Texts entries;
  std::string rest;
  bool is_complete = false;
};

/// Reads the reply in pieces of this many bytes.
Read read(const std::string& text, std::size_t piece = 1) {
  Read result;
  ScanReply reply([&](const HostEntry& entry) {
    result.entries.push_back(fmt::format("{} {:o} {} {} [{}] -> [{}]", entry.kind, entry.mode, entry.size,
                                         entry.mtime, entry.path, entry.link_target));
  });
  for (std::size_t i = 0; i < text.size(); i += piece) reply.feed(std::string_view(text).substr(i, piece));
  result.header = reply.header();
  result.is_complete = reply.is_complete();
  result.rest = reply.take_rest();
  return result;
}

std::string failure_of(const std::string& text) {
  try {
    read(text);
  } catch (const link::HostError& error) {
    return error.failure().detail;
  }
  return "none";
}

const std::string kGnu =
    "f 644 12 1700000000.5000000000 ./a b\nc\0\0"s
    "l 777 3 1.0 ./l\0../x y\0"s
    "d 755 4096 -5.0 .\0\0"s
    "end\0\0"s;

TEST(ScanReply, ReadsTheListOfGnuFind) {
  for (const std::size_t piece : {1U, 2U, 7U, 1000U}) {
    const Read reply = read("target directory b2sum gnu none 4711\n" + kGnu + "listed\nstaged x\n", piece);
    EXPECT_TRUE(reply.is_complete);
    EXPECT_TRUE(reply.header.exists);
    EXPECT_FALSE(reply.header.is_name);
    EXPECT_EQ(reply.header.digest, DigestKind::blake2b);
    EXPECT_EQ(reply.header.inode, "4711");
    EXPECT_THAT(reply.entries, ElementsAre("f 644 12 1700000000 [a b\nc] -> []", "l 777 3 1 [l] -> [../x y]",
                                           "d 755 4096 -5 [] -> []"));
    EXPECT_EQ(reply.rest, "staged x\n");
  }
}

TEST(ScanReply, KnowsTheRoomWhereTheFileSystemHasBlocks) {
  const auto room = [](const std::string& text) {
    return read("target directory b2sum gnu none 1" + text + "\n" + kGnu + "listed\n").header.room;
  };
  EXPECT_EQ(room(" 100*7*4096"), 7U * 4096U);
  EXPECT_EQ(room(" 100*0*4096"), 0U);
  for (const char* unknown :
       {"", " ", " 0*0*4096", " 100*7*0", " 100*7", " ?*?*?", " 9*18446744073709551615*4096"})
    EXPECT_EQ(room(unknown), std::nullopt) << unknown;
}

TEST(ScanReply, ReadsTheListOfStat) {
  const Read reply = read(
      "target missing-name sha256sum stat none 1\n"
      "81a4 12 1700000000 ./a\nb//\na1ff 3 1 ./l//\n41ed 4096 5 .//\nend//\n"s +
      "./l\0x\0end\0\0listed\n"s);
  EXPECT_TRUE(reply.is_complete);
  EXPECT_FALSE(reply.header.exists);
  EXPECT_TRUE(reply.header.is_name);
  EXPECT_EQ(reply.header.digest, DigestKind::sha256);
  EXPECT_THAT(reply.entries,
              ElementsAre("f 644 12 1700000000 [a\nb] -> []", "d 755 4096 5 [] -> []", "l 0 0 0 [l] -> [x]"));
}

TEST(ScanReply, ReadsACompressedList) {
  const std::string compressed = test::run_words({"gzip", "-1"}, kGnu).output;
  for (const std::size_t piece : {1U, 5U, 1000U}) {
    const Read reply = read("target directory b2sum gnu gzip 1\n" + compressed + "listed\nrest", piece);
    EXPECT_TRUE(reply.is_complete);
    EXPECT_EQ(reply.entries.size(), 3U);
    EXPECT_EQ(reply.rest, "rest");
  }
}

TEST(ScanReply, RefusesAnIncompleteCompressedList) {
  const std::string list = kGnu.substr(0, kGnu.find("d 755"));
  const std::string compressed = test::run_words({"gzip", "-1"}, list).output;
  EXPECT_EQ(failure_of("target directory b2sum gnu gzip 1\n" + compressed), "the list is cut off");
}

TEST(ScanReply, ReportsTheErrorOfAHost) {
  EXPECT_EQ(failure_of("error app: not a directory\n"), "app: not a directory");
  EXPECT_EQ(failure_of("target directory b2sum gnu none 1\n" + kGnu + "error ./x: Permission denied\n"),
            "./x: Permission denied");
}

TEST(ScanReply, RefusesAnythingButAList) {
  EXPECT_NE(failure_of("hello\n"), "none");
  EXPECT_NE(failure_of(std::string(5000, 'x')), "none");
  EXPECT_NE(failure_of("target directory b2sum gnu none 1\n" + std::string(20000, 'x')), "none");
  for (const std::string& record :
       {"f 644 12 1 /etc/passwd\0\0"s, "f 844 12 1 ./a\0\0"s, "f 644 -1 1 ./a\0\0"s, "\0\0"s,
        "ff 644 1 1 ./a\0\0"s, "f 644 1 1 ././\0\0"s, "f 644 1 1 ./a/\0\0"s, "f 644 1 1 ./a//b\0\0"s,
        "f 644 1 1 ./a/./b\0\0"s, "f 644 1 1 ./../b\0\0"s})
    EXPECT_NE(failure_of("target directory b2sum gnu none 1\n" + record), "none") << record;
  EXPECT_NE(failure_of("target directory b2sum gnu gzip 1\nno gzip data at all"), "none");
}

}  // namespace
}  // namespace podrun::transfer
