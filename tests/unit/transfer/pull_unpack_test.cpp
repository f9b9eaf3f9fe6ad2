// SPDX-License-Identifier: Apache-2.0
#include "podrun/transfer/pull_unpack.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/report/outcome_words.hpp"

#include "support/listed_path.hpp"
#include "support/tar_text.hpp"
#include "support/temp_directory.hpp"

namespace podrun::transfer {
namespace {

using test::listed_path;
using test::tar_end;
using test::tar_text;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class UnpackTest : public testing::Test {
 protected:
  /// Unpacks in small pieces. An exception is kept in failure_.
  Unpacked unpack(const std::vector<ListedPath>& paths, std::string_view bytes,
                  std::uint64_t most = 1'000'000) {
    std::vector<const ListedPath*> wanted;
    for (const ListedPath& path : paths) wanted.push_back(&path);
    const auto next = [&bytes] {
      const std::string_view piece = bytes.substr(0, 700);
      bytes.remove_prefix(piece.size());
      return piece;
    };
    Unpacked unpacked;
    try {
      PulledDirectory directory(temp_.path("out"), PulledDirectory::Missing::make);
      transfer::unpack(next, wanted, most, directory, unpacked);
    } catch (const link::HostError& error) {
      failure_ = report::describe(error.failure());
    }
    return unpacked;
  }

  /// The files below the directory, with their contents.
  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(temp_.path())) {
      const std::string name = entry.path().lexically_relative(temp_.path("out"));
      if (entry.is_symlink()) {
        found[name] = "-> " + std::filesystem::read_symlink(entry.path()).string();
      } else if (!entry.is_directory()) {
        found[name] = temp_.read("out/" + name);
      }
    }
    return found;
  }

  test::TempDirectory temp_;
  std::string failure_ = "none";
};

TEST_F(UnpackTest, UnpacksTheWantedPaths) {
  const Unpacked unpacked =
      unpack({listed_path("a", 3), listed_path("d/b", 0)},
             tar_text({.name = "./a", .content = "abc"}) + tar_text({.name = "d/b"}) + tar_end());
  EXPECT_THAT(unpacked.arrived, ElementsAre(true, true));
  EXPECT_EQ(unpacked.problem, "");
  EXPECT_THAT(files(), ElementsAre(Pair("a", "abc"), Pair("d/b", "")));
  struct stat status {};
  ::stat(temp_.path("out/a").c_str(), &status);
  EXPECT_EQ(status.st_mtim.tv_sec, 1'600'000'000) << "the time of the list, so that a later change is seen";
}

TEST_F(UnpackTest, ReadsOneArchiveAfterAnother) {
  const std::string end = tar_end() + tar_end() + tar_end();
  const Unpacked unpacked =
      unpack({listed_path("a", 1), listed_path("b", 1)}, tar_text({.name = "./a", .content = "x"}) + end +
                                                             tar_text({.name = "./b", .content = "y"}) + end);
  EXPECT_THAT(unpacked.arrived, ElementsAre(true, true));
  EXPECT_EQ(unpacked.problem, "");
}

TEST_F(UnpackTest, AcceptsNoArchiveAtAll) {
  EXPECT_THAT(unpack({listed_path("a", 1)}, "").arrived, ElementsAre(false));
  EXPECT_THAT(unpack({listed_path("a", 1)}, tar_end()).arrived, ElementsAre(false));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(UnpackTest, UnpacksLongAndOddNames) {
  const std::string name = std::string(200, 'd') + "/\xff\n" + std::string(200, 'e');
  unpack({listed_path(name, 3)}, tar_text({.name = "./" + name, .content = "abc"}) + tar_end());
  EXPECT_THAT(files(), ElementsAre(Pair(name, "abc")));
}

TEST_F(UnpackTest, RefusesUnwantedNames) {
  for (const std::string name : {"../a", "/a", "b", "./a/b", "a/../../c", "../out/a", ""}) {
    failure_ = "none";
    const Unpacked unpacked =
        unpack({listed_path("a", 3)}, tar_text({.name = name, .content = "abc"}) + tar_end());
    EXPECT_TRUE(failure_ != "none" || !unpacked.problem.empty()) << name;
    EXPECT_THAT(unpacked.arrived, ElementsAre(false)) << name;
    EXPECT_THAT(files(), IsEmpty()) << name;
  }
  unpack({listed_path("a", 3)}, tar_text({.name = "../a", .content = "abc"}));
  EXPECT_EQ(failure_, "copying: unexpected answer \"../a in its archive\"");
}

TEST_F(UnpackTest, MakesNoDevicesPipesOrDirectories) {
  for (const char type : {'3', '4', '5', '6'}) {
    const Unpacked unpacked =
        unpack({listed_path("a", 0)}, tar_text({.name = "./a", .type = type}) + tar_end());
    EXPECT_THAT(unpacked.arrived, ElementsAre(false)) << type;
    EXPECT_TRUE(std::filesystem::is_empty(temp_.path("out"))) << type;
  }
}

TEST_F(UnpackTest, KeepsLinks) {
  const Unpacked unpacked = unpack({listed_path("l", 11, Kind::link), listed_path("f", 0)},
                                   tar_text({.name = "./l", .type = '2', .link = "/etc/passwd"}) +
                                       tar_text({.name = "./f", .type = '2', .link = "l"}) + tar_end());
  EXPECT_THAT(unpacked.arrived, ElementsAre(true, false)) << "a file that has become a link";
  EXPECT_THAT(files(), ElementsAre(Pair("l", "-> /etc/passwd")));
}

TEST_F(UnpackTest, DoesNotWriteThroughLinks) {
  std::filesystem::create_directories(temp_.path("outside"));
  unpack({listed_path("l", 1, Kind::link), listed_path("l/a", 3)},
         tar_text({.name = "./l", .type = '2', .link = temp_.path("outside")}) +
             tar_text({.name = "./l/a", .content = "abc"}) + tar_end());
  EXPECT_TRUE(std::filesystem::is_empty(temp_.path("outside")));
}

TEST_F(UnpackTest, MakesHardLinksToArrivedFiles) {
  const std::vector<ListedPath> paths = {listed_path("a", 3), listed_path("b", 3), listed_path("c", 3)};
  const Unpacked unpacked =
      unpack(paths, tar_text({.name = "./a", .content = "abc"}) +
                        tar_text({.name = "./b", .type = '1', .link = "./a"}) +
                        tar_text({.name = "./c", .type = '1', .link = "./c"}) + tar_end());
  EXPECT_THAT(unpacked.arrived, ElementsAre(true, true, false));
  EXPECT_THAT(files(), ElementsAre(Pair("a", "abc"), Pair("b", "abc")));
  unpack(paths, tar_text({.name = "./b", .type = '1', .link = "/etc/passwd"}) + tar_end());
  EXPECT_EQ(failure_, "copying: unexpected answer \"/etc/passwd in its archive\"");
}

TEST_F(UnpackTest, WritesAFileToEveryWantedPlace) {
  std::vector<ListedPath> paths = {listed_path("d/a", 3), listed_path("d/a", 3), listed_path("d/b", 1)};
  paths[1].local_at = std::string("./d/").size();
  const Unpacked unpacked = unpack(paths, tar_text({.name = "./d/a", .content = "abc"}) +
                                              tar_text({.name = "./d/a", .type = '1', .link = "./d/a"}) +
                                              tar_text({.name = "./d/b", .content = "d"}) + tar_end());
  EXPECT_THAT(unpacked.arrived, ElementsAre(true, true, true));
  EXPECT_THAT(files(), ElementsAre(Pair("a", "abc"), Pair("d/a", "abc"), Pair("d/b", "d")));
}

TEST_F(UnpackTest, RemovesAnIncompleteFile) {
  const std::string archive = tar_text({.name = "./a", .content = std::string(5000, 'x')});
  for (const std::size_t size : {100U, 512U, 1000U, 5000U}) {
    const Unpacked unpacked = unpack({listed_path("a", 5000)}, std::string_view(archive).substr(0, size));
    EXPECT_THAT(unpacked.arrived, ElementsAre(false));
    EXPECT_NE(unpacked.problem, "") << size;
    EXPECT_TRUE(std::filesystem::is_empty(temp_.path("out"))) << size;
  }
}

TEST_F(UnpackTest, ReportsAnythingButArchives) {
  const Unpacked unpacked = unpack({listed_path("a", 1)}, std::string(2000, 'x'));
  EXPECT_NE(unpacked.problem, "");
  EXPECT_EQ(failure_, "none");
}

TEST_F(UnpackTest, AcceptsAFileThatHasGrown) {
  unpack({listed_path("a", 1)}, tar_text({.name = "./a", .content = "abc"}) + tar_end());
  EXPECT_THAT(files(), ElementsAre(Pair("a", "abc")));
}

TEST_F(UnpackTest, RefusesMoreBytesThanAllowed) {
  unpack({listed_path("a", 1)}, tar_text({.name = "./a", .content = std::string(1001, 'x')}), 1000);
  EXPECT_EQ(failure_, "copying: it sends more than the 1.0 kB that were expected");
  failure_ = "none";
  unpack({listed_path("a", 1)}, tar_text({.name = "./a", .size = 07777777777}), 1000);
  EXPECT_THAT(failure_, HasSubstr("it sends more than"));
  EXPECT_TRUE(std::filesystem::is_empty(temp_.path("out")));
}

TEST_F(UnpackTest, RefusesAnEndlessArchive) {
  std::string member = tar_text({.name = "./a", .content = "x"});
  std::string archive;
  while (archive.size() < 3'000'000) archive += member;
  unpack({listed_path("a", 1)}, archive, 1000);
  EXPECT_THAT(failure_, HasSubstr("it sends more than"));
  failure_ = "none";
  unpack({listed_path("a", 1)}, std::string(3'000'000, '\0'), 1000);
  EXPECT_THAT(failure_, HasSubstr("it sends more than"));
}

TEST_F(UnpackTest, PassesOnExceptionsOfTheSource) {
  const ListedPath path = listed_path("a", 5000);
  const std::string archive = tar_text({.name = "./a", .content = std::string(5000, 'x')});
  PulledDirectory directory(temp_.path("out"), PulledDirectory::Missing::make);
  int calls = 0;
  const auto next = [&]() -> std::string_view {
    if (++calls == 2) throw 7;
    return std::string_view(archive).substr(0, 2000);
  };
  Unpacked unpacked;
  EXPECT_THROW(transfer::unpack(next, {&path}, 10'000, directory, unpacked), int);
  EXPECT_TRUE(std::filesystem::is_empty(temp_.path("out")));
}

}  // namespace
}  // namespace podrun::transfer
