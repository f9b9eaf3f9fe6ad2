// SPDX-License-Identifier: Apache-2.0
#include "podrun/transfer/local_tree.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/base/descriptor.hpp"
#include "podrun/base/file_system.hpp"

#include "support/usage_error.hpp"
#include "unit/transfer/source_tree.hpp"

namespace podrun::transfer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LocalTreeTest : public testing::Test {
 protected:
  TreeRequest request(const std::vector<std::string>& words) const {
    TreeRequest request;
    for (const std::string& word : words) request.sources.push_back(source_.path(word));
    return request;
  }
  LocalTree read(const std::vector<std::string>& words) const { return LocalTree::read(request(words)); }
  std::string error(const std::vector<std::string>& words) const {
    return usage_error([&] { read(words); });
  }
  static std::vector<std::string> paths(const LocalTree& tree) {
    std::vector<std::string> paths;
    for (const Entry& entry : tree.entries()) paths.push_back(entry.path);
    return paths;
  }
  static Entry find(const LocalTree& tree, const std::string& path) {
    const auto found = std::find_if(tree.entries().begin(), tree.entries().end(),
                                    [&](const Entry& entry) { return entry.path == path; });
    return found == tree.entries().end() ? Entry{"not found"} : *found;
  }

  SourceTree source_;
};

TEST_F(LocalTreeTest, HasADirectoryOrWithATrailingSlashItsContents) {
  source_.write("a/x");
  source_.write("a/sub/y");
  EXPECT_THAT(paths(read({"a"})), ElementsAre("a", "a/sub", "a/sub/y", "a/x"));
  EXPECT_THAT(paths(read({"a/"})), ElementsAre("", "sub", "sub/y", "x"));
  EXPECT_THAT(paths(read({"a//"})), ElementsAre("", "sub", "sub/y", "x"));
  EXPECT_THAT(paths(read({"a/."})), ElementsAre("", "sub", "sub/y", "x"));
  EXPECT_THAT(paths(read({"a/sub/.."})), ElementsAre("", "sub", "sub/y", "x"));
  EXPECT_THAT(paths(read({"a/x"})), ElementsAre("x"));
}

TEST_F(LocalTreeTest, HasALinkOrWithATrailingSlashItsTarget) {
  source_.write("a/x");
  source_.link("link", "a");
  source_.link("dangling", "nowhere");
  const LocalTree tree = read({"link", "dangling"});
  EXPECT_THAT(paths(tree), ElementsAre("dangling", "link"));
  EXPECT_EQ(tree.entries()[1].kind, Kind::link);
  EXPECT_EQ(tree.entries()[1].link_target, "a");
  EXPECT_EQ(tree.entries()[1].size, 0U);
  EXPECT_THAT(paths(read({"link/"})), ElementsAre("", "x"));
}

TEST_F(LocalTreeTest, DoesNotFollowLinksInATree) {
  source_.write("a/x");
  source_.link("a/up", "..");
  EXPECT_THAT(paths(read({"a"})), ElementsAre("a", "a/up", "a/x"));
}

TEST_F(LocalTreeTest, KnowsSizesTimesAndModes) {
  source_.write("a/x", "12345");
  ::chmod(source_.path("a/x").c_str(), 0750);
  ::chmod(source_.path("a").c_str(), 0711);
  const timespec times[2] = {{-5, 0}, {-5, 0}};
  ::utimensat(AT_FDCWD, source_.path("a/x").c_str(), times, 0);
  ::utimensat(AT_FDCWD, source_.path("a").c_str(), times, 0);
  const LocalTree tree = read({"a/"});
  EXPECT_EQ(tree.entries()[0].kind, Kind::directory);
  EXPECT_EQ(tree.entries()[0].mode, 0711U);
  EXPECT_EQ(tree.entries()[0].mtime, -5);
  EXPECT_EQ(tree.entries()[1].kind, Kind::file);
  EXPECT_EQ(tree.entries()[1].mode, 0750U);
  EXPECT_EQ(tree.entries()[1].size, 5U);
  EXPECT_EQ(tree.entries()[1].mtime, -5);
}

TEST_F(LocalTreeTest, IsSortedByBytesWithADirectoryBeforeItsContents) {
  source_.write("t/a/x");
  source_.write("t/a-b");
  source_.write("t/\xff");
  source_.write("t/B");
  EXPECT_THAT(paths(read({"t/"})), ElementsAre("", "B", "a", "a-b", "a/x", "\xff"));
}

TEST_F(LocalTreeTest, AcceptsAnyName) {
  const std::vector<std::string> names = {
      "-n",           "\n",        " ",     "a\nb", "$(touch x)",
      "\x01\xff\xfe", "'\"\\`*?[", "{a,b}", "~",    std::string(255, 'n')};
  for (const std::string& name : names) source_.write("t/" + name, name);
  const LocalTree tree = read({"t/"});
  std::vector<std::string> expected = names;
  expected.emplace_back();
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(paths(tree), expected);
  for (const std::string& name : names) EXPECT_EQ(find(tree, name).size, name.size());
}

TEST_F(LocalTreeTest, GoesDeeperThanTheLongestPath) {
  source_.make("t");
  const std::string name(200, 'd');
  Descriptor directory(::open(source_.path("t").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::string path;
  while (path.size() < 2 * PATH_MAX) {
    ASSERT_EQ(::mkdirat(directory.get(), name.c_str(), 0755), 0);
    directory.reset(::openat(directory.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    path += name + '/';
  }
  const Descriptor file(::openat(directory.get(), "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  ASSERT_TRUE(file.is_open());
  ASSERT_EQ(::ftruncate(file.get(), 7), 0);
  const LocalTree tree = read({"t/"});
  const Entry entry = find(tree, path + "file");
  EXPECT_EQ(entry.size, 7U);
  const Descriptor opened(open_path(tree.local_path(entry), O_RDONLY));
  struct stat status {};
  ASSERT_EQ(::fstat(opened.get(), &status), 0);
  EXPECT_EQ(status.st_size, 7);
  test::run_words({"rm", "-rf", "--", source_.path("t")});
}

TEST_F(LocalTreeTest, MergesDirectoriesOfOneName) {
  source_.write("a/x/1");
  source_.write("a/x/sub/1");
  source_.write("b/x/2");
  source_.write("b/x/sub/2");
  const LocalTree tree = read({"a/x", "b/x"});
  EXPECT_THAT(paths(tree), ElementsAre("x", "x/1", "x/2", "x/sub", "x/sub/1", "x/sub/2"));
  EXPECT_EQ(tree.local_path(find(tree, "x/sub/2")), source_.path("b/x/sub/2"));
  EXPECT_EQ(tree.local_path(find(tree, "x/sub")), source_.path("a/x/sub"));
  EXPECT_THAT(paths(read({"a/x/", "b/x/"})), ElementsAre("", "1", "2", "sub", "sub/1", "sub/2"));
}

TEST_F(LocalTreeTest, RefusesTwoThingsWithOneName) {
  source_.write("a/x");
  source_.write("b/x");
  source_.write("c/x/y");
  const std::string a = source_.path("a/x");
  EXPECT_EQ(error({"a/x", "b/x"}),
            "push: \"" + a + "\" and \"" + source_.path("b/x") + "\" would both become \"x\" on the hosts");
  EXPECT_EQ(error({"a/", "c/"}),
            "push: \"" + a + "\" and \"" + source_.path("c/x") + "\" would both become \"x\" on the hosts");
  EXPECT_THAT(paths(read({"a/x", "a/x"})), ElementsAre("x"));
}

TEST_F(LocalTreeTest, NamesAMissingSource) {
  source_.write("file");
  EXPECT_EQ(error({"missing"}), "push: " + source_.path("missing") + ": no such file or directory");
  EXPECT_EQ(error({"missing/"}), "push: " + source_.path("missing/") + ": no such file or directory");
  EXPECT_EQ(error({"file/"}), "push: " + source_.path("file/") + ": not a directory");
  EXPECT_EQ(usage_error([] { LocalTree::read({.sources = {""}}); }), "push: \"\": no such file or directory");
}

TEST_F(LocalTreeTest, NamesUnreadablePaths) {
  constexpr uid_t kOther = 65534;
  const uid_t self = ::geteuid();
  source_.write("a/file");
  source_.make("b/sub");
  ::chmod(source_.path("a/file").c_str(), 0);
  ::chmod(source_.path("b/sub").c_str(), 0);
  if (self == 0) {
    ASSERT_EQ(::seteuid(kOther), 0);
  }
  const std::string file = error({"a"});
  const std::string directory = error({"b"});
  const std::string source = error({"a/file"});
  if (self == 0) {
    ASSERT_EQ(::seteuid(self), 0);
  }
  ::chmod(source_.path("b/sub").c_str(), 0700);
  EXPECT_EQ(file, "push: " + source_.path("a/file") + ": permission denied");
  EXPECT_EQ(directory, "push: " + source_.path("b/sub") + ": permission denied");
  EXPECT_EQ(source, file);
}

TEST_F(LocalTreeTest, ListsSpecialFiles) {
  source_.write("t/x");
  ASSERT_EQ(::mkfifo(source_.path("t/fifo").c_str(), 0600), 0);
  const LocalTree tree = read({"t"});
  EXPECT_THAT(paths(tree), ElementsAre("t", "t/x"));
  EXPECT_THAT(tree.special(), ElementsAre(source_.path("t/fifo")));
  EXPECT_EQ(error({"t/fifo"}),
            "push: " + source_.path("t/fifo") + ": neither a file nor a directory nor a symbolic link");
  EXPECT_THAT(read({"t/x"}).special(), IsEmpty());
}

TEST_F(LocalTreeTest, RenamesASingleFile) {
  source_.write("a", "123");
  const LocalTree tree = read({"a"}).renamed("b");
  EXPECT_THAT(paths(tree), ElementsAre("b"));
  EXPECT_EQ(tree.local_path(tree.entries()[0]), source_.path("a"));
}

TEST_F(LocalTreeTest, KnowsWhereItsEntriesAre) {
  source_.write("a/sub/x");
  const LocalTree tree = read({"a", "a/sub/"});
  EXPECT_EQ(tree.local_path(find(tree, "a/sub/x")), source_.path("a/sub/x"));
  EXPECT_EQ(tree.local_path(find(tree, "x")), source_.path("a/sub/x"));
  EXPECT_EQ(tree.local_path(find(tree, "a")), source_.path("a/"));
}

}  // namespace
}  // namespace podrun::transfer
