// SPDX-License-Identifier: Apache-2.0
#include "podrun/transfer/pulled_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/listed_path.hpp"
#include "support/temp_directory.hpp"

namespace podrun::transfer {
namespace {

using test::listed_path;
using testing::HasSubstr;

constexpr auto kMake = PulledDirectory::Missing::make;
constexpr std::int64_t kTime = 1'600'000'000;
const std::string kLeftover = ".podrun.0123456789abcdef0123456789abcdef";

class PulledDirectoryTest : public testing::Test {
 protected:
  static void put(PulledDirectory& directory, const ListedPath& path, const std::string& content) {
    PulledDirectory::NewFile file(directory, path);
    file.write(0, content);
    file.finish(content.size());
  }
  struct stat status(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(::lstat(temp_.path(name).c_str(), &status), 0) << name;
    return status;
  }
  std::string failure_of(PulledDirectory& directory, const ListedPath& path) const {
    try {
      put(directory, path, "x");
    } catch (const LocalWriteError& error) {
      return error.what();
    }
    return "none";
  }
  std::size_t count(const std::string& name) const {
    const std::filesystem::directory_iterator entries(temp_.path(name));
    return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
  }

  test::TempDirectory temp_;
};

TEST_F(PulledDirectoryTest, PutsAPrefixBeforeTheNames) {
  PulledDirectory directory(temp_.path("out/."), kMake, "3-tpu-3-");
  const ListedPath path = listed_path("d/a", 1);
  EXPECT_FALSE(directory.has(path));
  put(directory, path, "x");
  EXPECT_TRUE(directory.has(path));
  EXPECT_EQ(status("out/3-tpu-3-d/a").st_size, 1);
  std::filesystem::create_directory(temp_.path("out/3-tpu-3-e"));
  std::filesystem::create_directory(temp_.path("out/3-tpu-3-e/f"));
  EXPECT_THAT(failure_of(directory, listed_path("e", 1)), HasSubstr("out/./3-tpu-3-e: "));
}

TEST_F(PulledDirectoryTest, RenamesAFileOnceItIsComplete) {
  PulledDirectory directory(temp_.path("out/0-a"), kMake);
  const ListedPath path = listed_path("a/b", 6, Kind::file, kTime, 0751);
  {
    PulledDirectory::NewFile file(directory, path);
    file.write(0, "abc");
    EXPECT_FALSE(temp_.has("out/0-a/a"));
    file.write(3, "def");
    file.finish(6);
  }
  EXPECT_EQ(temp_.read("out/0-a/a/b"), "abcdef");
  EXPECT_EQ(status("out/0-a/a/b").st_mtim.tv_sec, kTime);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  EXPECT_EQ(status("out/0-a/a/b").st_mode & 07777, 0751 & ~mask);
  EXPECT_EQ(count("out/0-a"), 1);
}

TEST_F(PulledDirectoryTest, RemovesAnUnfinishedFile) {
  PulledDirectory directory(temp_.path("out"), kMake);
  const ListedPath path = listed_path("a", 3);
  { PulledDirectory::NewFile(directory, path).write(0, "ab"); }
  EXPECT_EQ(count("out"), 0);
}

TEST_F(PulledDirectoryTest, RecognisesUnchangedFilesAndLinks) {
  PulledDirectory directory(temp_.path("out"), kMake);
  const ListedPath path = listed_path("d/a", 3);
  EXPECT_FALSE(directory.has(path));
  put(directory, path, "abc");
  EXPECT_TRUE(directory.has(path));
  EXPECT_FALSE(directory.has(listed_path("d/a", 4)));
  EXPECT_FALSE(directory.has(listed_path("d/a", 3, Kind::file, kTime + 1)));
  EXPECT_FALSE(directory.has(listed_path("d/a", 3, Kind::link)));
  EXPECT_FALSE(directory.has(listed_path("d", 3)));
  EXPECT_FALSE(directory.has(listed_path("d/a/b", 3)));
  EXPECT_FALSE(PulledDirectory(temp_.path("none"), PulledDirectory::Missing::leave).has(path));
  EXPECT_FALSE(temp_.has("none"));
}

TEST_F(PulledDirectoryTest, KeepsLinksAsTheyAre) {
  PulledDirectory directory(temp_.path("out"), kMake);
  const ListedPath path = listed_path("d/l", 11, Kind::link);
  directory.put_link(path, "/etc/passwd");
  EXPECT_EQ(std::filesystem::read_symlink(temp_.path("out/d/l")), "/etc/passwd");
  EXPECT_TRUE(directory.has(path));
  directory.put_link(path, "../nowhere");
  EXPECT_EQ(std::filesystem::read_symlink(temp_.path("out/d/l")), "../nowhere");
}

TEST_F(PulledDirectoryTest, NeverWritesThroughLinks) {
  std::filesystem::create_directory(temp_.path("outside"));
  std::filesystem::create_directory(temp_.path("out"));
  std::filesystem::create_symlink(temp_.path("outside"), temp_.path("out/d"));
  std::filesystem::create_symlink(temp_.path("outside"), temp_.path("out/e"));
  std::filesystem::create_symlink(temp_.path("outside/file"), temp_.path("out/f"));
  PulledDirectory directory(temp_.path("out"), kMake);
  put(directory, listed_path("d/x/a", 1), "x");
  directory.make_directory(listed_path("e", 0, Kind::directory));
  put(directory, listed_path("e/a", 1), "x");
  put(directory, listed_path("f", 1), "x");
  EXPECT_EQ(count("outside"), 0);
  EXPECT_EQ(temp_.read("out/d/x/a") + temp_.read("out/e/a") + temp_.read("out/f"), "xxx");
  EXPECT_TRUE(S_ISREG(status("out/f").st_mode));
}

TEST_F(PulledDirectoryTest, RefusesALinkInThePlaceOfTheDirectory) {
  std::filesystem::create_directory(temp_.path("outside"));
  temp_.write("outside/" + kLeftover, "x");
  std::filesystem::create_directory_symlink(temp_.path("outside"), temp_.path("out"));
  std::filesystem::create_symlink(temp_.path("nowhere"), temp_.path("dangling"));
  for (const char* name : {"out", "dangling"}) {
    for (const auto missing : {kMake, PulledDirectory::Missing::leave}) {
      try {
        PulledDirectory(temp_.path(name), missing);
        FAIL() << name;
      } catch (const LocalWriteError& error) {
        EXPECT_THAT(error.what(), HasSubstr(temp_.path(name) + ": is a symbolic link"));
      }
    }
  }
  EXPECT_EQ(count("outside"), 1);
  EXPECT_FALSE(temp_.has("nowhere"));
}

TEST_F(PulledDirectoryTest, DoesNotCompareThroughLinks) {
  std::filesystem::create_directories(temp_.path("out"));
  std::filesystem::create_directory(temp_.path("outside"));
  PulledDirectory outside(temp_.path("outside"), kMake);
  put(outside, listed_path("a", 3), "abc");
  std::filesystem::create_directory_symlink(temp_.path("outside"), temp_.path("out/d"));
  EXPECT_FALSE(PulledDirectory(temp_.path("out"), kMake).has(listed_path("d/a", 3)));
}

TEST_F(PulledDirectoryTest, ReplacesAnythingButFullDirectories) {
  PulledDirectory directory(temp_.path("out"), kMake);
  put(directory, listed_path("a", 1), "x");
  put(directory, listed_path("a/b", 1), "x");  // a directory takes the place of the file
  EXPECT_EQ(temp_.read("out/a/b"), "x");
  EXPECT_EQ(failure_of(directory, listed_path("a", 1)), temp_.path("out/a") + ": Directory not empty");
  EXPECT_EQ(temp_.read("out/a/b"), "x");
  std::filesystem::remove(temp_.path("out/a/b"));
  EXPECT_EQ(failure_of(directory, listed_path("a", 1)), "none");
  EXPECT_EQ(temp_.read("out/a"), "x");
  EXPECT_EQ(count("out"), 1);
}

TEST_F(PulledDirectoryTest, ReplacesAnythingButFullDirectoriesByLinks) {
  PulledDirectory directory(temp_.path("out"), kMake);
  const ListedPath first = listed_path("first", 1);
  put(directory, first, "x");
  for (const std::string& name : {std::string("file"), std::string("full/file"), std::string("d/below/file")})
    put(directory, listed_path(name, 1), "y");
  std::filesystem::create_directory(temp_.path("out/empty"));
  std::filesystem::create_directory(temp_.path("out/d/empty"));
  for (const char* name : {"file", "empty", "d/empty", "d/below/file"}) {
    directory.put_link(listed_path(name, 1, Kind::link), "a");
    EXPECT_EQ(std::filesystem::read_symlink(temp_.path(std::string("out/") + name)), "a");
    directory.put_hard_link(listed_path(name, 1), first);
    EXPECT_EQ(status(std::string("out/") + name).st_ino, status("out/first").st_ino);
  }
  EXPECT_THROW(directory.put_link(listed_path("full", 1, Kind::link), "a"), LocalWriteError);
  EXPECT_THROW(directory.put_hard_link(listed_path("full", 1), first), LocalWriteError);
  EXPECT_EQ(temp_.read("out/full/file"), "y");
  EXPECT_EQ(count("out"), 5);
}

TEST_F(PulledDirectoryTest, MakesWritableDirectories) {
  PulledDirectory directory(temp_.path("out"), kMake);
  const ListedPath path = listed_path("d", 0, Kind::directory, kTime, 0555);
  directory.make_directory(path);
  directory.make_directory(path);
  EXPECT_EQ(status("out/d").st_mode & 0700, 0700);
  put(directory, listed_path("d/a", 1), "x");
  directory.set_time(path);
  EXPECT_EQ(status("out/d").st_mtim.tv_sec, kTime);
}

TEST_F(PulledDirectoryTest, MakesHardLinks) {
  PulledDirectory directory(temp_.path("out"), kMake);
  const ListedPath first = listed_path("d/a", 1);
  put(directory, first, "x");
  for (int i = 0; i < 2; ++i) directory.put_hard_link(listed_path("e/b", 1), first);
  EXPECT_EQ(status("out/e/b").st_ino, status("out/d/a").st_ino);
  EXPECT_EQ(count("out"), 2);
}

TEST_F(PulledDirectoryTest, RemovesLeftoversOfAnInterruptedPull) {
  std::filesystem::create_directory(temp_.path("out"));
  const std::string other = kLeftover.substr(0, kLeftover.size() - 1);
  for (const std::string& name : {kLeftover, other, std::string(".podrun.mine"), std::string("a")})
    temp_.write("out/" + name, "x");
  PulledDirectory(temp_.path("out"), PulledDirectory::Missing::leave);
  EXPECT_TRUE(temp_.has("out/" + kLeftover));
  const PulledDirectory directory(temp_.path("out"), kMake);
  EXPECT_FALSE(temp_.has("out/" + kLeftover));
  EXPECT_EQ(count("out"), 3);
}

TEST_F(PulledDirectoryTest, KeepsFilesOfAnotherPull) {
  PulledDirectory directory(temp_.path("out"), kMake);
  const ListedPath path = listed_path("a", 1);
  PulledDirectory::NewFile file(directory, path);
  const PulledDirectory other(temp_.path("out"), kMake);
  file.write(0, "x");
  file.finish(1);
  EXPECT_EQ(temp_.read("out/a"), "x");
}

TEST_F(PulledDirectoryTest, KeepsFilesOfAnotherPullAtAnyMoment) {
  PulledDirectory directory(temp_.path("out"), kMake);
  std::atomic<bool> is_done = false;
  std::thread other([&] {
    while (!is_done) PulledDirectory(temp_.path("out"), kMake);
  });
  const ListedPath path = listed_path("a", 1);
  std::string failure = "none";
  for (int i = 0; i < 1000 && failure == "none"; ++i) failure = failure_of(directory, path);
  is_done = true;
  other.join();
  EXPECT_EQ(failure, "none");
  EXPECT_EQ(count("out"), 1);
}

TEST_F(PulledDirectoryTest, AcceptsPathsOfAnyLength) {
  std::string path = "d";
  for (int i = 0; i < 30; ++i) path += "/" + std::string(250, static_cast<char>('a' + i % 26));
  PulledDirectory directory(temp_.path("out"), kMake);
  put(directory, listed_path(path, 3), "abc");
  EXPECT_TRUE(directory.has(listed_path(path, 3)));
  ASSERT_EQ(std::system(("rm -rf " + temp_.path("out")).c_str()), 0);  // remove_all() knows no such names
}

TEST_F(PulledDirectoryTest, NamesThePathThatCannotBeWritten) {
  temp_.write("file", "x");
  try {
    PulledDirectory(temp_.path("file/0-a"), kMake);
    FAIL();
  } catch (const LocalWriteError& error) {
    EXPECT_THAT(error.what(), HasSubstr(temp_.path("file/0-a") + ": Not a directory"));
  }
  PulledDirectory directory(temp_.path("out"), kMake);
  EXPECT_EQ(failure_of(directory, listed_path(std::string(300, 'x'), 1)),
            temp_.path("out/" + std::string(300, 'x')) + ": File name too long");
  EXPECT_EQ(count("out"), 0);
}

}  // namespace
}  // namespace podrun::transfer
