// SPDX-License-Identifier: Apache-2.0
#include "podrun/transfer/spread/host_archive.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/transfer/listing.hpp"
#include "podrun/transfer/local_archive.hpp"

#include "support/run_shell.hpp"
#include "unit/transfer/source_tree.hpp"

namespace podrun::transfer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t kBlock = Archive::kBlock;

/// A tree that is here, and the same as a host lists it.
class HostArchiveTest : public testing::Test {
 protected:
  HostArchiveTest() {
    source_.write("t/a", std::string(300, 'a'));
    source_.write("t/large", std::string(3 * kBlock, 'l'));
    source_.write("t/" + std::string(150, 'n'), "long name");
    source_.link("t/link", "a");
    tree_ = LocalTree::read({.sources = {source_.path("t/")}, .ignore = false});
    Listing listing;
    for (const Entry& entry : tree_.entries()) {
      ListedPath path{.host_path = "./t/" + entry.path, .local_at = 4, .link_target = entry.link_target};
      path.mode = entry.mode;
      path.size = entry.size;
      path.mtime = entry.mtime;
      path.kind = entry.kind;
      path.identity = {.device = 12, .inode = 34, .owner = 56};
      listing.paths.push_back(path);
    }
    listed_ = LocalTree::listed(listing);
    for (std::size_t i = 0; i < tree_.entries().size(); ++i) all_.push_back(i);
    LocalArchive archive(tree_, all_);
    while (bytes_.size() < archive.size()) bytes_ += archive.read(bytes_.size(), DigestKind::sha256).bytes();
  }

  void begin(HostArchive& archive) {
    archive.begin([this](std::string frame) { asked_.push_back(std::move(frame)); });
  }
  std::string part(std::uint64_t offset) const { return bytes_.substr(offset, kBlock); }

  SourceTree source_;
  LocalTree tree_;
  LocalTree listed_;
  std::vector<std::size_t> all_;
  std::string bytes_;  ///< of the archive
  std::vector<std::string> asked_;
};

TEST_F(HostArchiveTest, AsksForBlocksAheadAndOnce) {
  HostArchive archive(listed_, all_);
  EXPECT_EQ(archive.size(), bytes_.size());
  EXPECT_FALSE(archive.prepare(0));
  EXPECT_THAT(asked_, IsEmpty()) << "there is nobody to ask";
  begin(archive);
  EXPECT_FALSE(archive.prepare(0));
  EXPECT_FALSE(archive.prepare(kBlock));
  EXPECT_THAT(asked_, SizeIs(4));
  EXPECT_EQ(asked_.front(), "give 0 262144\n");
}

TEST_F(HostArchiveTest, HasWhatTheHostSends) {
  HostArchive archive(listed_, all_);
  begin(archive);
  std::string read;
  while (read.size() < archive.size()) {
    if (!archive.prepare(read.size())) {
      EXPECT_TRUE(archive.take_data(read.size(), part(read.size())));
    }
    read += archive.read(read.size(), DigestKind::sha256).bytes();
  }
  EXPECT_EQ(read, bytes_);
}

TEST_F(HostArchiveTest, TakesNoHeadsFromTheHost) {
  HostArchive archive(listed_, all_);
  begin(archive);
  archive.prepare(0);
  std::string changed = part(0);
  changed.replace(changed.find("new/a"), 5, "run/a");
  EXPECT_TRUE(archive.take_data(0, changed));
  EXPECT_EQ(archive.read(0, DigestKind::sha256).bytes(), part(0));
}

TEST_F(HostArchiveTest, RefusesDataThatWasNotAskedFor) {
  HostArchive archive(listed_, all_);
  EXPECT_FALSE(archive.take_data(0, part(0)));
  begin(archive);
  archive.prepare(0);
  EXPECT_FALSE(archive.take_data(0, part(0).substr(1)));
  EXPECT_FALSE(archive.take_data(1, part(0)));
  EXPECT_FALSE(archive.take_data(100 * kBlock, part(0)));
  EXPECT_TRUE(archive.take_data(0, part(0)));
  EXPECT_FALSE(archive.take_data(0, part(0)));
}

TEST_F(HostArchiveTest, AsksForADigestAgainWhenTheHostComesBack) {
  HostArchive archive(listed_, all_);
  archive.want_digest(DigestKind::blake2b);
  begin(archive);
  archive.want_digest(DigestKind::blake2b);
  EXPECT_THAT(asked_, ElementsAre("digest blake2b\n"));
  archive.lost();
  archive.want_digest(DigestKind::sha256);
  asked_.clear();
  begin(archive);
  EXPECT_THAT(asked_, SizeIs(2));
  archive.take_digest(DigestKind::sha256, "abc");
  EXPECT_EQ(archive.digest(DigestKind::sha256), "abc");
  EXPECT_EQ(archive.digest(DigestKind::blake2b), std::nullopt);
}

TEST_F(HostArchiveTest, CombinesTheSumOfABlockWithThatOfItsHeads) {
  HostArchive archive(listed_, all_);
  const std::string sum(32, 's');
  const std::string first = archive.sum_with_heads(0, 4 * kBlock, sum);
  EXPECT_THAT(first, SizeIs(32));
  EXPECT_NE(first, archive.sum_with_heads(0, 4 * kBlock, std::string(32, 'x')));
  EXPECT_NE(first, archive.sum_with_heads(kBlock, 2 * kBlock, sum)) << "there are only contents";
  EXPECT_EQ(archive.sum_with_heads(kBlock, 2 * kBlock, sum), archive.sum_with_heads(kBlock, kBlock, sum));
}

TEST_F(HostArchiveTest, PlansEveryMemberWithItsPlaceOnTheHost) {
  const std::string text = test::run_words({"gzip", "-dc"}, HostArchive(listed_, all_).plan()).output;
  EXPECT_TRUE(text.starts_with("512 0 ")) << "the directory";
  EXPECT_THAT(text, testing::HasSubstr("./t/large"));
  EXPECT_THAT(text, testing::HasSubstr(" 9 5 12 34 56\n")) << "./t/large, and what is below the word";
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("./t/link"))) << "only files are opened";
}

}  // namespace
}  // namespace podrun::transfer
