// SPDX-License-Identifier: Apache-2.0
// The programs of a pull on the host, in the shells and with the tools that hosts have.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/transfer/listing.hpp"
#include "podrun/transfer/pull_unpack.hpp"
#include "podrun/transfer/scripts.hpp"

#include "support/run_shell.hpp"
#include "support/temp_directory.hpp"

namespace podrun::transfer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// A home directory, and only the tools that podrun says it needs: busybox's with its shell, else GNU's.
class PullScripts : public testing::TestWithParam<test::Shell> {
 protected:
  void SetUp() override {
    const bool is_busybox = GetParam().name == "busybox";
    for (const std::string tool :
         {"sh", "find", "stat", "xargs", "tar", "readlink", "dash", "bash", "busybox"}) {
      const bool is_shell = tool == "dash" || tool == "bash" || tool == "busybox";
      std::filesystem::create_symlink("/usr/bin/" + (is_busybox && !is_shell ? std::string("busybox") : tool),
                                      tools_.path(tool));
    }
  }

  /// The output after the hello.
  std::string run(std::string_view script, const std::vector<std::string>& arguments,
                  std::string_view input = {}) {
    std::vector<std::string> words = {"env", "-i", "HOME=" + home_.path(), "PATH=" + tools_.path()};
    words.insert(words.end(), GetParam().words.begin(), GetParam().words.end());
    words.insert(words.end(), {"-c", std::string(script), "sh", "nonce", "mark"});
    words.insert(words.end(), arguments.begin(), arguments.end());
    const std::string output = test::run_words(words, input).output;
    const std::string hello = "\npodrun1 nonce ready - - - - \n";
    EXPECT_TRUE(output.starts_with(hello)) << output;
    return output.substr(hello.size());
  }

  Listing list(const std::vector<std::string>& words, Links links = Links::not_listed) {
    std::vector<std::string> arguments = {links == Links::listed ? "links" : "-"};
    for (const std::string& word : words) arguments.push_back(pull_word(word));
    ListingReader reader(words.size(), PathBudget(PathBudget::kUsualPaths), links);
    reader.feed(run(kPullListScript, arguments));
    EXPECT_TRUE(reader.is_complete());
    return reader.take();
  }
  std::vector<std::string> names(const std::vector<std::string>& words) {
    std::vector<std::string> names;
    for (const ListedPath& path : list(words).paths) names.emplace_back(path.path());
    return names;
  }

  /// Pulls everything that the words name into a directory.
  void pull(const std::vector<std::string>& words, const std::string& place, const std::string& into) {
    const Listing listing = list(words);
    std::vector<const ListedPath*> wanted;
    std::string sent;
    PulledDirectory directory(into, PulledDirectory::Missing::make);
    for (const ListedPath& path : listing.paths) {
      if (path.kind == Kind::directory) {
        directory.make_directory(path);
        continue;
      }
      wanted.push_back(&path);
      sent += fmt::format("./{}", archive_name(path));
      sent += '\0';
    }
    const std::string archives = run(kPullSendScript, {place, ""}, sent);
    bool given = false;
    const auto next = [&] {
      return std::exchange(given, true) ? std::string_view() : std::string_view(archives);
    };
    Unpacked unpacked;
    unpack(next, wanted, 100'000'000, directory, unpacked);
    EXPECT_EQ(unpacked.problem, "");
    EXPECT_THAT(unpacked.arrived, testing::Each(true));
    for (const ListedPath* path : wanted) EXPECT_TRUE(directory.has(*path)) << path->path();
  }

  static std::map<std::string, std::string> read(const std::string& directory) {
    std::map<std::string, std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
      std::string& text = found[entry.path().lexically_relative(directory)];
      if (entry.is_symlink()) {
        text = "-> " + std::filesystem::read_symlink(entry.path()).string();
      } else if (!entry.is_directory()) {
        std::ifstream file(entry.path(), std::ios::binary);
        text.assign(std::istreambuf_iterator<char>(file), {});
      }
    }
    return found;
  }

  void write(const std::string& name, const std::string& content = "x") {
    std::filesystem::create_directories(std::filesystem::path(home_.path(name)).parent_path());
    home_.write(name, content);
  }

  test::TempDirectory home_;
  test::TempDirectory tools_;
};

INSTANTIATE_TEST_SUITE_P(Shells, PullScripts, testing::ValuesIn(test::host_shells()), test::ShellName());

TEST_P(PullScripts, ListTheContentsOfADirectory) {
  write("logs/a", "abc");
  write("logs/d/b");
  EXPECT_THAT(names({"logs"}), ElementsAre("logs", "logs/a", "logs/d", "logs/d/b"));
  EXPECT_THAT(names({"logs/"}), ElementsAre("a", "d", "d/b"));
  EXPECT_THAT(names({"~/logs/d", home_.path("logs/a")}), ElementsAre("a", "d", "d/b"));
  const Listing listing = list({"logs/a"});
  ASSERT_EQ(listing.paths.size(), 1);
  struct stat status {};
  ::stat(home_.path("logs/a").c_str(), &status);
  EXPECT_EQ(listing.paths[0].size, 3);
  EXPECT_EQ(listing.paths[0].mtime, status.st_mtim.tv_sec);
  EXPECT_EQ(listing.paths[0].mode, status.st_mode & 07777);
  EXPECT_EQ(listing.paths[0].identity,
            (Identity{.device = status.st_dev, .inode = status.st_ino, .owner = status.st_uid}));
  EXPECT_FALSE(listing.has_errors);
}

TEST_P(PullScripts, ExpandPatterns) {
  for (const std::string name : {"r1/log", "r2/log2", "r2/other", "r3", ".hidden"}) write("runs/" + name);
  EXPECT_THAT(names({"runs/r*"}), ElementsAre("r1", "r1/log", "r2", "r2/log2", "r2/other", "r3"));
  EXPECT_THAT(names({"runs/r2/[lo]*"}), ElementsAre("log2", "other"));
  EXPECT_THAT(names({"runs/r?/"}), ElementsAre("log", "log2", "other"))
      << "what is in each of the directories";
  EXPECT_THAT(list({"runs/x*", "runs/r3", "none"}).missing, ElementsAre(0, 2));
}

TEST_P(PullScripts, DoNotExpandTheNameOfAnExistingPath) {
  write("a[1]*", "pattern");
  write("a1x");
  EXPECT_THAT(names({"a[1]*"}), ElementsAre("a[1]*"));
  EXPECT_THAT(names({"a[[]1]*"}), ElementsAre("a[1]*"));
  EXPECT_THAT(names({"a?x"}), ElementsAre("a1x"));
}

TEST_P(PullScripts, ResolveParents) {
  write("a/b/x");
  write("a/y");
  write("z");
  EXPECT_THAT(names({"a/b/../y"}), ElementsAre("y"));
  EXPECT_THAT(names({"a/b/../../z*"}), ElementsAre("z"));
  EXPECT_THAT(names({"a/b/.."}), ElementsAre("b", "b/x", "y"));
  EXPECT_THAT(list({"none/../z"}).missing, ElementsAre(0));
  const Listing listing = list({"a/b/../y"});
  EXPECT_TRUE(listing.paths.at(0).host_path.starts_with('/')) << "tar would leave out what is before it";
}

TEST_P(PullScripts, DoNotFollowLinks) {
  write("d/x");
  std::filesystem::create_symlink("d", home_.path("l"));
  std::filesystem::create_symlink("nowhere", home_.path("dangling"));
  const Listing listing = list({"l", "dangling"});
  ASSERT_EQ(listing.paths.size(), 2);
  for (const ListedPath& path : listing.paths) EXPECT_EQ(path.kind, Kind::link);
  EXPECT_THAT(names({"l/"}), ElementsAre("x"));
}

TEST_P(PullScripts, ListWhereLinksLead) {
  const std::vector<std::string> targets = {"nowhere", "a b\n", "\n\n", "//x", std::string(300, 't'), "-n"};
  std::filesystem::create_directory(home_.path("d"));
  for (std::size_t i = 0; i < targets.size(); ++i)
    std::filesystem::create_symlink(targets[i], home_.path(fmt::format("d/{}", i)));
  const Listing listing = list({"d/"}, Links::listed);
  ASSERT_EQ(listing.paths.size(), targets.size() + 1);
  for (std::size_t i = 0; i < targets.size(); ++i) EXPECT_EQ(listing.paths[i + 1].link_target, targets[i]);
}

TEST_P(PullScripts, SendEveryName) {
  std::map<std::string, std::string> expected;
  int number = 0;
  for (const std::string& word : test::awkward_words(3)) {
    if (word.empty() || word == "." || word == ".." || word.find('/') != word.npos || word.size() > 200)
      continue;
    expected["all/" + word] = std::to_string(++number);
    write("all/" + word, std::to_string(number));
  }
  expected["all"] = "";
  pull({"all"}, "home", home_.path("out"));
  EXPECT_EQ(read(home_.path("out")), expected);
  EXPECT_THAT(names({"all/-n", "all/a b"}), UnorderedElementsAre("-n", "a b"));
}

TEST_P(PullScripts, SendLinksLongNamesAndHardLinks) {
  const std::string deep = std::string(150, 'd') + "/" + std::string(150, 'e') + "/" + std::string(200, 'f');
  write("all/" + deep, std::string(100'000, 'x'));
  write("all/a", "abc");
  std::filesystem::create_hard_link(home_.path("all/a"), home_.path("all/b"));
  std::filesystem::create_symlink("/etc/passwd", home_.path("all/l"));
  std::filesystem::create_symlink(std::string(300, 't'), home_.path("all/m"));
  std::filesystem::create_directory(home_.path("all/empty"));
  pull({"all/"}, "home", home_.path("out"));
  EXPECT_EQ(read(home_.path("out")), read(home_.path("all")));
}

TEST_P(PullScripts, SendAbsolutePaths) {
  write("all/a", "abc");
  pull({home_.path("all")}, "/", home_.path("out"));
  EXPECT_EQ(read(home_.path("out/all")), read(home_.path("all")));
}

TEST_P(PullScripts, SendMoreNamesThanOneCommandLineHolds) {
  std::filesystem::create_directories(home_.path("all"));
  const std::string long_name(200, 'n');
  for (int i = 0; i < 1500; ++i) home_.write(fmt::format("all/{}{}", long_name, i), std::to_string(i));
  pull({"all/*"}, "home", home_.path("out"));
  EXPECT_EQ(read(home_.path("out")), read(home_.path("all")));
}

TEST_P(PullScripts, NameAProgramThatIsMissing) {
  std::filesystem::remove(tools_.path("stat"));
  if (GetParam().name == "busybox") return;  // its shell has all of its programs
  EXPECT_EQ(run(kPullListScript, {"-", "./a"}), "t stat//\n");
}

TEST_P(PullScripts, ReportPathsThatCannotBeListed) {
  if (::geteuid() == 0) return;  // root lists all
  write("d/x");
  std::filesystem::permissions(home_.path("d"), std::filesystem::perms::none);
  EXPECT_TRUE(list({"d"}).has_errors);
  std::filesystem::permissions(home_.path("d"), std::filesystem::perms::owner_all);
}

TEST_P(PullScripts, ListNothingForNothing) {
  const Listing listing = list({"none*"});
  EXPECT_THAT(listing.paths, IsEmpty());
  EXPECT_THAT(listing.missing, ElementsAre(0));
  EXPECT_FALSE(listing.has_errors);
}

}  // namespace
}  // namespace podrun::transfer
