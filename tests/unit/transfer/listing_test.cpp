// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/report/outcome_words.hpp"
#include "podrun/transfer/list_paths.hpp"

#include "support/usage_error.hpp"

namespace podrun::transfer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kEnd = "e 0//\n";

std::string match(const std::string& path) { return fmt::format("m {}//\n", path); }
std::string file(const std::string& path) { return fmt::format("f 81a4 3 1600000000 {}//\n", path); }
std::string directory(const std::string& path) { return fmt::format("f 41ed 4096 1600000000 {}//\n", path); }

Listing read(const std::string& reply, std::size_t words = 1) {
  ListingReader reader(words);
  reader.feed(reply + std::string(kEnd));
  EXPECT_TRUE(reader.is_complete());
  return reader.take();
}

std::vector<std::string> paths_of(const std::string& reply) {
  std::vector<std::string> paths;
  for (const ListedPath& path : read(reply).paths) paths.emplace_back(path.path());
  return paths;
}

std::string refusal_of(const std::string& reply, std::size_t words = 1) {
  try {
    read(reply, words);
  } catch (const link::HostError& error) {
    return report::describe(error.failure());
  }
  return "none";
}

TEST(PullWord, IsNormalised) {
  EXPECT_EQ(pull_word("a"), "./a");
  EXPECT_EQ(pull_word("a/b*"), "./a/b*");
  EXPECT_EQ(pull_word("./a//./b"), "./a/b");
  EXPECT_EQ(pull_word("-rf"), "./-rf");
  EXPECT_EQ(pull_word("~/a"), "./a");
  EXPECT_EQ(pull_word("~a"), "./~a");
  EXPECT_EQ(pull_word("//var///log"), "/var/log");
  EXPECT_EQ(pull_word("..."), "./...");
}

TEST(PullWord, KeepsTheSlashOfContents) {
  EXPECT_EQ(pull_word("a/"), "./a/");
  EXPECT_EQ(pull_word("a//"), "./a/");
  EXPECT_EQ(pull_word("a/."), "./a/");
  EXPECT_EQ(pull_word("."), "./");
  EXPECT_EQ(pull_word("~"), "./");
  EXPECT_EQ(pull_word("~/"), "./");
  EXPECT_EQ(pull_word("/"), "/");
  EXPECT_EQ(pull_word(".."), "./../");
  EXPECT_EQ(pull_word("a/.."), "./a/../");
  EXPECT_EQ(usage_error([] { pull_word(""); }), "pull: an empty path (expected one on the hosts)");
}

TEST(Listing, NamesPathsAfterTheLastPartOfTheWord) {
  EXPECT_THAT(paths_of(match("./logs/run") + directory("./logs/run") + file("./logs/run/a")),
              ElementsAre("run", "run/a"));
  EXPECT_THAT(paths_of(match("/var/log/x") + file("/var/log/x")), ElementsAre("x"));
  EXPECT_THAT(paths_of(match("./a") + match("./b") + file("./a") + file("./b")), ElementsAre("a", "b"));
}

TEST(Listing, CopiesTheContentsOfADirectoryWithASlash) {
  EXPECT_THAT(paths_of(match("./logs/") + directory("./logs/") + file("./logs/a")), ElementsAre("a"));
  EXPECT_THAT(paths_of(match("./") + directory("./") + file("./a")), ElementsAre("a"));
  EXPECT_THAT(paths_of(match("/") + directory("/") + file("/a")), ElementsAre("a"));
}

TEST(Listing, HasTheAttributesOfAPath) {
  const Listing listing = read(match("./a") + "f a1ff 5 -7 ./a//\n");
  ASSERT_EQ(listing.paths.size(), 1);
  const ListedPath& path = listing.paths.front();
  EXPECT_EQ(path.host_path, "./a");
  EXPECT_EQ(path.kind, Kind::link);
  EXPECT_EQ(path.mode, 0777);
  EXPECT_EQ(path.size, 5);
  EXPECT_EQ(path.mtime, -7);
  EXPECT_EQ(path.identity, Identity());
}

TEST(Listing, TellsAFileFromOthersOfItsName) {
  for (const char* const record : {"f 81a4 5 7:12:34:56:78 ./a//\n", "g f 644 5 7.25:12:34:56:78 ./a//\n"}) {
    const Listing listing = read(match("./a") + record);
    ASSERT_EQ(listing.paths.size(), 1);
    EXPECT_EQ(listing.paths[0].mtime, 7);
    EXPECT_EQ(listing.paths[0].identity, (Identity{.device = 12, .inode = 34, .owner = 56}));
  }
  for (const char* const record : {"f 81a4 5 7:12:34:56 ./a//\n", "f 81a4 5 7:12:34:56:78:90 ./a//\n"})
    EXPECT_THAT(refusal_of(match("./a") + record), HasSubstr("unexpected answer")) << record;
}

TEST(Listing, KnowsWhereOtherUsersCanRename) {
  const auto is_shared = [](const std::string& user, const std::string& directory) {
    return read(match("./d") + user + directory + "f 81a4 3 5:1:1:0:0 ./d//\n").is_shared;
  };
  const std::string own = "u 5:5//\n";
  const std::string root = "u 0:0//\n";
  for (const char* const directory : {"h 41ed:5:5//\n", "h 41fd:5:5//\n", "h 41ed:0:0//\n", "h 43ff:0:0//\n"})
    EXPECT_FALSE(is_shared(own, directory)) << directory;
  for (const char* const directory : {"h 41c0:6:5//\n", "h 43ff:6:5//\n", "h 41ff:5:5//\n", "h 41fd:5:7//\n"})
    EXPECT_TRUE(is_shared(own, directory)) << directory;
  EXPECT_FALSE(is_shared(root, "h 41ed:0:0//\n"));
  EXPECT_TRUE(is_shared(root, "h 41fd:0:0//\n")) << "it may be the mask of an ACL";
  EXPECT_FALSE(is_shared("", "h 41ff:6:6//\n")) << "a host that does not tell";
  EXPECT_TRUE(read(match("./d") + own + "f 41ed 0 5:1:1:6:6 ./d//\n").is_shared);
}

TEST(Listing, AcceptsAnyBytesInNames) {
  const std::string odd = "a b\n-\xff\\'\"";
  EXPECT_THAT(
      paths_of(match("./d") + directory("./d") + file("./d/\n") + file("./d/e ") + file("./d/" + odd)),
      ElementsAre("d", "d/\n", "d/" + odd, "d/e "));
  EXPECT_THAT(paths_of(match("./" + odd) + file("./" + odd)), ElementsAre(odd));
}

TEST(Listing, CountsSpecialFiles) {
  const Listing listing =
      read(match("./d") + directory("./d") + "f 11a4 0 0 ./d/fifo//\nf c1ed 0 0 ./d/socket//\n");
  EXPECT_EQ(listing.paths.size(), 1);
  EXPECT_EQ(listing.special, 2);
}

TEST(Listing, SortsContentsAfterTheirDirectory) {
  EXPECT_THAT(paths_of(match("./d/") + directory("./d/") + file("./d/a-b") + directory("./d/a") +
                       file("./d/a/z") + file("./d/a.b")),
              ElementsAre("a", "a/z", "a-b", "a.b"));
}

TEST(Listing, HasAPathOnceIfSeveralWordsNameIt) {
  EXPECT_THAT(paths_of(match("./a") + match("./a") + file("./a") + file("./a")), ElementsAre("a"));
  EXPECT_THAT(paths_of(match("./d") + match("./d/a") + directory("./d") + file("./d/a") + file("./d/a")),
              ElementsAre("a", "d", "d/a"));
}

TEST(Listing, HasATreeOnceIfSeveralWordsNameIt) {
  const std::string tree = directory("./d") + directory("./d/s") + file("./d/s/a");
  const std::string below = directory("./d/s") + file("./d/s/a");
  EXPECT_THAT(paths_of(match("./d") + match("./d") + tree + tree), ElementsAre("d", "d/s", "d/s/a"));
  EXPECT_THAT(paths_of(match("./d") + match("./d") + match("./d") + tree + tree + tree),
              ElementsAre("d", "d/s", "d/s/a"));
  EXPECT_THAT(paths_of(match("./d") + match("./gone") + match("./d") + tree + tree),
              ElementsAre("d", "d/s", "d/s/a"));
  EXPECT_THAT(paths_of(match("./d") + match("./d/s") + match("./d/s") + tree + below + below),
              ElementsAre("d", "d/s", "d/s/a", "s", "s/a"));
  EXPECT_THAT(paths_of(match("./d/s") + match("./d/s/") + below + directory("./d/s/") + file("./d/s/a")),
              ElementsAre("a", "s", "s/a"));
}

TEST(Listing, HasALinkAndWhatIsBehindIt) {
  EXPECT_THAT(paths_of(match("./l") + match("./l/a") + "f a1ff 1 7 ./l//\n" + file("./l/a")),
              ElementsAre("a", "l"));
}

TEST(Listing, RefusesANameThatOneListHasTwice) {
  EXPECT_EQ(refusal_of(match("./d") + directory("./d") + file("./d/x?") + file("./d/x?")),
            "copying: \"d/x?\" is listed twice: the host's find or stat cannot print the names of all files "
            "(rename those whose names are not UTF-8)");
}

TEST(Listing, MergesDirectoriesOfOneName) {
  EXPECT_THAT(paths_of(match("./x/d") + match("./y/d") + directory("./x/d") + file("./x/d/a") +
                       directory("./y/d") + file("./y/d/b")),
              ElementsAre("d", "d/a", "d/b"));
}

TEST(Listing, RefusesTwoPathsOfOneName) {
  EXPECT_EQ(refusal_of(match("./x/a") + match("./y/a") + file("./x/a") + file("./y/a")),
            "copying: \"x/a\" and \"y/a\" would both become \"a\" (copy them into different directories)");
  EXPECT_THAT(
      refusal_of(match("./x/a") + match("./y/a") + file("./x/a") + directory("./y/a") + file("./y/a/b")),
      HasSubstr("would both become \"a\""));
}

TEST(Listing, RefusesMorePathsThanTheBudget) {
  const auto refusal = [](std::size_t most, const std::string& reply) -> std::string {
    try {
      ListingReader(1, PathBudget(most)).feed(reply);
    } catch (const link::HostError& error) {
      return report::describe(error.failure());
    }
    return "none";
  };
  const std::string two = match("./d") + directory("./d") + file("./d/a");
  EXPECT_EQ(refusal(2, two), "none");
  EXPECT_EQ(refusal(2, two + "f 11a4 0 0 ./d/fifo//\n"), "none");  // is only counted
  EXPECT_EQ(refusal(2, two + file("./d/b")), "copying: more files and directories than --max-files 2");
  EXPECT_EQ(refusal(1, match("./a") + match("./b")),
            "copying: more files and directories than --max-files 1");
  const std::string long_name(300, 'x');
  EXPECT_EQ(refusal(1'000, match("./d") + directory("./d") + file("./d/" + long_name)), "none");
  EXPECT_THAT(refusal(2, match("./d") + directory("./d") + file("./d/" + long_name)),
              HasSubstr("names are too long"));
}

TEST(Listing, NeverLeavesTheDirectory) {
  const std::vector<std::string> replies = {
      match("./..") + file("./.."),
      match("./.") + file("./."),
      match("./a") + file("./a/../../b"),
      match("./a/") + file("./a//b"),
      match("./a/") + file("./a/./b"),
      match("./a") + file("./b"),
      match("./a") + file("./ab"),
      match("./a/") + file("./a/.."),
      match("a") + file("a"),
      match("../a") + file("../a"),
      match("") + file(""),
      file("./a"),
      match("./a") + file("./a") + match("./b"),
      match(std::string("./a\0b", 5)) + file(std::string("./a\0b", 5)),
      match(std::string("./a\0/b", 6)) + file(std::string("./a\0/b", 6)),
  };
  for (const std::string& reply : replies)
    EXPECT_THAT(refusal_of(reply), HasSubstr("unexpected answer")) << reply;
}

TEST(Listing, RefusesAnythingButAReply) {
  for (const std::string& reply : std::vector<std::string>{
           "x//\n", "f//\n", "f 81a4 3//\n", "f 81a4 x 0 ./a//\n", "n 1//\n", "n -1//\n", "n 0//\nn 0//\n",
           "e x//\n", "e 0//\ne 0//\n", match("./a") + "f 81a4 99999999999999999999 0 ./a//\n",
           std::string(20'000, 'x')}) {
    EXPECT_THAT(refusal_of(reply), HasSubstr("unexpected answer")) << reply.substr(0, 40);
  }
}

TEST(Listing, ReportsMissingWords) {
  const Listing listing = read("n 2//\nn 0//\n" + match("./a") + file("./a"), 3);
  EXPECT_THAT(listing.missing, ElementsAre(2, 0));
  EXPECT_EQ(listing.paths.size(), 1);
  EXPECT_EQ(refusal_of("t stat//\n"), "copying: no \"stat\" in $PATH there (podrun needs it)");
}

TEST(Listing, IsNotCompleteBeforeItsEnd) {
  ListingReader reader(1);
  reader.feed("n 0//\ne 1/");
  EXPECT_FALSE(reader.is_complete());
  reader.feed("/");
  EXPECT_FALSE(reader.is_complete());
  reader.feed("\n");
  EXPECT_TRUE(reader.is_complete());
  const Listing listing = reader.take();
  EXPECT_TRUE(listing.has_errors);
  EXPECT_THAT(listing.paths, IsEmpty());
}

Listing read_links(const std::string& reply) {
  ListingReader reader(1, PathBudget(PathBudget::kUsualPaths), Links::listed);
  reader.feed(reply + std::string(kEnd));
  return reader.take();
}

std::string link(const std::string& path) { return fmt::format("f a1ff 3 1600000000 {}//\n", path); }
std::string target(const std::string& path, const std::string& target) {
  return fmt::format("l {}{}{}//\n", path, '\0', target);
}

TEST(Listing, HasWhereLinksLead) {
  const Listing listing = read_links(match("./d") + directory("./d") + link("./d/a") + link("./d/b") +
                                     target("./d/b", "x y\n") + target("./d/a", "../z"));
  ASSERT_EQ(listing.paths.size(), 3);
  EXPECT_EQ(listing.paths[1].link_target, "../z");
  EXPECT_EQ(listing.paths[2].link_target, "x y\n");
}

TEST(Listing, HasTheDirectoryWhoseContentsAreNamedIfItHasLinks) {
  const Listing listing = read_links(match("./d/") + directory("./d/") + file("./d/a"));
  ASSERT_EQ(listing.paths.size(), 2);
  EXPECT_EQ(listing.paths[0].path(), "");
  EXPECT_EQ(listing.paths[0].mode, 0755);
}

TEST(Listing, RefusesLinksThatLeadNowhereKnown) {
  const std::string asked = match("./d") + directory("./d") + link("./d/a");
  EXPECT_THROW(read_links(asked), link::HostError);
  EXPECT_THROW(read_links(asked + target("./d/a", "")), link::HostError);
  EXPECT_THROW(read_links(asked + target("./d/b", "x")), link::HostError);
  EXPECT_THROW(read(asked + target("./d/a", "x")), link::HostError) << "nobody asked";
}

TEST(CheckNames, RefusesNamesThatNoWordAsksFor) {
  const Listing listing = read(match("./.ssh") + directory("./.ssh") + file("./.ssh/a"));
  EXPECT_THROW(check_names(listing, {"./model.bin"}), link::HostError);
  EXPECT_THROW(check_names(listing, {"./*"}), link::HostError) << "as for a shell";
  EXPECT_NO_THROW(check_names(listing, {"./x", "./.ssh"}));
  EXPECT_NO_THROW(check_names(listing, {"./.s*"}));
  EXPECT_NO_THROW(check_names(listing, {"./all/"}));
}

}  // namespace
}  // namespace podrun::transfer
