// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <ostream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/transfer/local_archive.hpp"

#include "unit/transfer/source_tree.hpp"

namespace podrun::transfer {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::vector<std::size_t> all_of(const LocalTree& tree) {
  std::vector<std::size_t> indices(tree.entries().size());
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

std::string read_whole(Archive& archive, DigestKind kind = DigestKind::sha256) {
  std::string bytes;
  for (;;) {
    const Chunk block = archive.read(bytes.size(), kind);
    if (block.empty()) break;
    EXPECT_LE(block.size(), Archive::kBlock);
    bytes += block.bytes();
  }
  EXPECT_EQ(bytes.size(), archive.size());
  return bytes;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// As push.sh computes it.
std::string digest_by(const std::string& program, const std::string& directory) {
  const std::string text = fmt::format(
      "export LC_ALL=C; cd '{1}' && for large in '' !; do find . -type f -perm -400 $large -size +16777215c "
      "-print0 | "
      "sort -z | xargs -0 -r {0}; done | sed -n 's/^[\\]\\{{0,1\\}}\\([0-9a-f]\\{{64,\\}}\\).*/\\1/p' | {0}",
      program, directory);
  const std::string line = test::run_words({"sh", "-c", text}, "").output;
  return line.substr(0, line.find(' '));
}

/// The message of the LocalFileError that reading the archive ends with.
std::string error_of(Archive& archive, std::uint64_t offset = 0) {
  try {
    while (offset < archive.size()) offset += archive.read(offset, DigestKind::sha256).size();
  } catch (const LocalFileError& error) {
    return error.what();
  }
  return "no error";
}

class ArchiveTest : public testing::Test {
 protected:
  LocalTree read(const std::string& word) const {
    return LocalTree::read({.sources = {source_.path(word)}, .ignore = false});
  }
  void set_time(const std::string& name, std::int64_t seconds) const {
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    ::utimensat(AT_FDCWD, source_.path(name).c_str(), times, AT_SYMLINK_NOFOLLOW);
  }
  void make_names() const {
    for (const std::size_t size : {1U, 94U, 95U, 96U, 97U, 98U, 155U, 255U})
      source_.write("t/" + std::string(size, 'n'));
    for (const std::string name : {"-n", "\n", " a ", "\xff\xfe", "a\nb", "*", "\\"}) {
      source_.write("t/" + name, name);
      source_.write("t/d" + name + "/file", name);
    }
    std::string deep = "t/" + std::string(90, 'a');
    for (int i = 0; i < 30; ++i) deep += "/" + std::string(95 + static_cast<std::size_t>(i), 'd');
    source_.write(deep + "/file");
    source_.make("t/empty");
    source_.make("t/empty too/" + std::string(97, 'e'));
  }
  void make_links() const {
    source_.link("t/dangling", "nowhere");
    source_.link("t/absolute", "/tmp");
    source_.link("t/directory", "empty");
    for (const std::size_t size : {98U, 99U, 100U, 101U, 4000U})
      source_.link("t/link" + std::to_string(size), std::string(size, 't'));
    source_.link("t/" + std::string(200, 'l'), std::string(300, 't'));
  }
  void make_files() const {
    source_.write("t/nothing", "");
    for (const std::size_t size : {511U, 512U, 513U, 262'144U, 700'000U})
      source_.write("t/size" + std::to_string(size), std::string(size, 'x'));
    fs::resize_file(source_.write("t/sparse", "begins"), 1'000'000);
    for (const unsigned mode : {0400U, 0444U, 0600U, 0644U, 0755U, 0777U})
      ::chmod(source_.write("t/mode" + std::to_string(mode)).c_str(), mode);
    source_.make("t/closed");
    ::chmod(source_.path("t/closed").c_str(), 0555);
    const std::vector<std::int64_t> times = {
        0, 1, -5, -100'000'000, 1'600'000'000, 4'294'967'296, 8'589'934'597};
    for (const std::int64_t time : times) {
      source_.write("t/time" + std::to_string(time));
      set_time("t/time" + std::to_string(time), time);
    }
  }

  SourceTree source_;
};

/// A program that extracts archives on hosts.
struct TarProgram {
  std::string name;
  std::vector<std::string> words;
};
void PrintTo(const TarProgram& program, std::ostream* out) { *out << program.name; }

class ArchiveByTar : public ArchiveTest, public testing::WithParamInterface<TarProgram> {
 protected:
  std::string extract(std::string_view bytes, const std::string& directory) const {
    source_.make(directory);
    std::vector<std::string> words = GetParam().words;
    words.insert(words.end(), {"-xpf", "-", "-C", source_.path(directory)});
    words.insert(words.begin(), {"sh", "-c", "umask 0 && exec \"$@\"", "sh"});  // as push.sh does
    EXPECT_EQ(test::run_words(words, bytes).exit_status, 0);
    return directory + "/new/";
  }
};

INSTANTIATE_TEST_SUITE_P(Tar, ArchiveByTar,
                         testing::Values(TarProgram{"gnu", {"tar"}},
                                         TarProgram{"busybox", {"busybox", "tar"}}),
                         [](const auto& each) { return each.param.name; });

TEST_P(ArchiveByTar, ExtractsToAnEqualTree) {
  make_names();
  make_links();
  make_files();
  const LocalTree sent = read("t/");
  LocalArchive archive(sent, all_of(sent));
  const LocalTree found = read(extract(read_whole(archive) + std::string(end_of_archive()), "out"));
  ASSERT_EQ(found.entries().size(), sent.entries().size());
  for (std::size_t i = 0; i < sent.entries().size(); ++i) {
    const Entry& expected = sent.entries()[i];
    const Entry& entry = found.entries()[i];
    SCOPED_TRACE(expected.path);
    EXPECT_EQ(entry.path, expected.path);
    EXPECT_EQ(entry.kind, expected.kind);
    EXPECT_EQ(entry.link_target, expected.link_target);
    EXPECT_EQ(entry.mode, expected.kind == Kind::directory ? expected.mode | 0700 : expected.mode);
    if (expected.kind != Kind::file) continue;
    EXPECT_EQ(entry.mtime, expected.mtime);
    EXPECT_TRUE(content_of(found.local_path(entry)) == content_of(sent.local_path(expected)));
  }
}

TEST_P(ArchiveByTar, HasOnlyChosenEntriesAndTheTrailer) {
  source_.write("t/a", "1");
  source_.write("t/b", "2");
  source_.write("t/c", "3");
  const LocalTree tree = read("t/");
  LocalArchive archive(tree, {0, 2});
  const std::string bytes =
      read_whole(archive) + tar_member("script", "echo\n") + std::string(end_of_archive());
  extract(bytes, "out");
  EXPECT_FALSE(fs::exists(source_.path("out/new/a")));
  EXPECT_EQ(content_of(source_.path("out/new/b")), "2");
  EXPECT_FALSE(fs::exists(source_.path("out/new/c")));
  EXPECT_EQ(content_of(source_.path("out/script")), "echo\n");
}

TEST_P(ArchiveByTar, HoldsFilesOfAnySize) {
  constexpr std::uintmax_t kSize = 9ULL << 30;
  fs::resize_file(source_.write("t/big", ""), kSize);
  source_.write("t/zero");
  const LocalTree tree = read("t/");
  LocalArchive archive(tree, all_of(tree));
  EXPECT_EQ(archive.size(), 2 * 512 + kSize + 2 * 512);
  std::vector<std::string> words = GetParam().words;
  words.insert(words.end(), {"-tvf", "-"});
  EXPECT_THAT(test::run_words(words, archive.read(0, DigestKind::sha256).bytes()).output,
              HasSubstr(" " + std::to_string(kSize) + " "));
}

TEST_F(ArchiveTest, IsEmptyWithoutEntries) {
  source_.write("t/x");
  const LocalTree tree = read("t/");
  LocalArchive archive(tree, {});
  EXPECT_EQ(archive.size(), 0U);
  EXPECT_TRUE(archive.read(0, DigestKind::sha256).empty());
  source_.write("empty/x");
  fs::remove(source_.path("empty/x"));
  EXPECT_EQ(archive.digest(DigestKind::blake2b), digest_by("b2sum", source_.path("empty")));
}

TEST_F(ArchiveTest, HasTheDigestThatAHostComputes) {
  make_names();
  make_files();
  source_.write("t/just-large", std::string(Archive::kLarge, 'x'));
  source_.write("t/just-small", std::string(Archive::kLarge - 1, 'x'));
  source_.write("t/unreadable");
  fs::permissions(source_.path("t/unreadable"), fs::perms::owner_write);
  const LocalTree tree = read("t/");
  LocalArchive archive(tree, all_of(tree));
  const std::string bytes = read_whole(archive);
  EXPECT_EQ(archive.digest(DigestKind::sha256), digest_by("sha256sum", source_.path("t")));
  EXPECT_EQ(archive.digest(DigestKind::sha256), digest_by("openssl dgst -sha256 -r", source_.path("t")));
  EXPECT_EQ(archive.digested(DigestKind::blake2b), 0U);
  EXPECT_TRUE(read_whole(archive, DigestKind::blake2b) == bytes);
  EXPECT_EQ(archive.digested(DigestKind::blake2b), archive.size());
  EXPECT_EQ(archive.digest(DigestKind::blake2b), digest_by("b2sum", source_.path("t")));
}

TEST_F(ArchiveTest, IsEqualForReadersAtAnyDistance) {
  std::string content(20 << 20, '\0');  // more than the blocks that are kept
  std::mt19937 random(1);               // NOLINT: equal runs each time
  for (std::size_t i = 0; i < content.size(); i += 100) content[i] = static_cast<char>(random());
  source_.write("t/big", content);
  for (int i = 0; i < 300; ++i)
    source_.write("t/" + std::to_string(i), std::string(static_cast<std::size_t>(i), 'x'));
  const LocalTree tree = read("t/");
  LocalArchive archive(tree, all_of(tree));
  std::vector<std::string> readers(5);
  const auto read = [&](std::size_t reader) {
    const DigestKind kind = reader % 2 == 0 ? DigestKind::sha256 : DigestKind::blake2b;
    readers[reader] += archive.read(readers[reader].size(), kind).bytes();
  };
  while (readers[0].size() < archive.size()) {
    const std::size_t reader = random() % readers.size();
    if (reader > 0 && readers[reader].size() >= readers[reader - 1].size()) continue;
    read(reader);
  }
  for (std::size_t reader = 0; reader < readers.size(); ++reader) {
    while (readers[reader].size() < archive.size()) read(reader);
    EXPECT_TRUE(readers[reader] == readers[0]);
  }
  EXPECT_EQ(archive.digest(DigestKind::sha256), digest_by("sha256sum", source_.path("t")));
  EXPECT_EQ(archive.digest(DigestKind::blake2b), digest_by("b2sum", source_.path("t")));
}

TEST_F(ArchiveTest, ReportsAFileThatChanges) {
  source_.write("t/big", std::string(3 * Archive::kBlock, 'x'));
  const LocalTree tree = read("t/");
  const std::string changed =
      source_.path("t/big") + ": changed while it was being copied (run the command again)";
  LocalArchive longer(tree, all_of(tree));
  longer.read(0, DigestKind::sha256);
  std::ofstream(source_.path("t/big"), std::ios::app) << "more";
  EXPECT_EQ(error_of(longer, Archive::kBlock), changed);
  LocalArchive before(tree, all_of(tree));
  EXPECT_EQ(error_of(before), changed);

  const LocalTree again = read("t/");
  LocalArchive shorter(again, all_of(again));
  shorter.read(0, DigestKind::sha256);
  fs::resize_file(source_.path("t/big"), 100);
  EXPECT_EQ(error_of(shorter, Archive::kBlock), changed);

  const LocalTree third = read("t/");
  LocalArchive touched(third, all_of(third));
  set_time("t/big", 5);
  EXPECT_EQ(error_of(touched), changed);

  const LocalTree fourth = read("t/");
  LocalArchive replaced(fourth, all_of(fourth));
  fs::remove(source_.path("t/big"));
  source_.link("t/big", "/etc/passwd");
  EXPECT_EQ(error_of(replaced), changed);
}

TEST_F(ArchiveTest, FollowsNoLinkInThePlaceOfADirectory) {
  source_.write("t/a/b/x", "mine");
  source_.write("private/b/x", "keys");
  for (const char* const name : {"t/a/b/x", "private/b/x"}) set_time(name, 5);
  for (const auto& [directory, other] : {std::pair("t/a", "private"), std::pair("t/a/b", "private/b")}) {
    for (const char* const word : {"t/", "t"}) {
      const LocalTree tree = read(word);
      fs::rename(source_.path(directory), source_.path("kept"));
      source_.link(directory, source_.path(other));
      LocalArchive archive(tree, all_of(tree));
      EXPECT_THAT(error_of(archive), HasSubstr(source_.path("t/a/b/x: ")));
      fs::remove(source_.path(directory));
      fs::rename(source_.path("kept"), source_.path(directory));
    }
  }
}

TEST_F(ArchiveTest, ReportsAnotherFileOfTheSameSizeAndTime) {
  source_.write("t/x", "mine");
  source_.write("private/x", "keys");
  for (const char* const name : {"t/x", "private/x"}) set_time(name, 5);
  const std::string changed =
      source_.path("t/x") + ": changed while it was being copied (run the command again)";
  const LocalTree tree = read("t/");
  fs::rename(source_.path("t"), source_.path("kept"));
  source_.link("t", source_.path("private"));
  LocalArchive behind_link(tree, all_of(tree));
  EXPECT_EQ(error_of(behind_link), changed);

  fs::remove(source_.path("t"));
  fs::rename(source_.path("kept"), source_.path("t"));
  LocalArchive again(tree, all_of(tree));
  EXPECT_EQ(error_of(again), "no error");
  fs::rename(source_.path("private/x"), source_.path("t/x"));
  LocalArchive replaced(tree, all_of(tree));
  EXPECT_EQ(error_of(replaced), changed);
}

TEST_F(ArchiveTest, ReportsAFileThatVanishes) {
  source_.write("t/x");
  const LocalTree tree = read("t/");
  fs::remove(source_.path("t/x"));
  LocalArchive archive(tree, all_of(tree));
  EXPECT_EQ(error_of(archive),
            source_.path("t/x") + ": vanished while it was being copied (run the command again)");
}

}  // namespace
}  // namespace podrun::transfer
