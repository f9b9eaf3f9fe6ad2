// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/file_system.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "podrun/base/text.hpp"

#include "support/temp_directory.hpp"

namespace podrun {
namespace {

std::optional<std::string> read_file(const std::string& path, std::size_t limit) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::optional<std::string> text = read_whole(descriptor, limit);
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return text;
}

class WholeFile : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return directory_.path() + '/' + name; }
  std::size_t files() const {
    const std::filesystem::directory_iterator all(directory_.path());
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  test::TempDirectory directory_;
};

TEST_F(WholeFile, IsReadUpToALimit) {
  const std::string text(40'000, 'x');
  directory_.write("a", text);
  EXPECT_EQ(read_file(path("a"), text.size()), text);
  EXPECT_FALSE(read_file(path("a"), text.size() - 1));
  EXPECT_EQ(errno, EFBIG);
}

TEST_F(WholeFile, IsReplacedWithItsModeAndLeavesNothingBeside) {
  directory_.write("a", "old");
  ::chmod(path("a").c_str(), 0600);
  ASSERT_TRUE(replace_file(path("a"), "new"));
  EXPECT_EQ(read_file(path("a"), 10), "new");
  struct stat status {};
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
  EXPECT_EQ(files(), 1U);
}

TEST_F(WholeFile, IsReplacedThoughItBelongsToAnotherUser) {
  constexpr uid_t kOther = 4711;
  constexpr uid_t kSelf = 65534;
  directory_.write("a", "old");
  if (::geteuid() != 0 || ::chown(path("a").c_str(), kOther, kOther) != 0 ||
      ::chown(directory_.path().c_str(), kSelf, 0) != 0) {
    GTEST_SKIP() << "only root can give a file to another user";
  }
  ::chmod(path("a").c_str(), 06664);
  ASSERT_EQ(::seteuid(kSelf), 0);
  const bool replaced = replace_file(path("a"), "new");
  const std::string error = errno_text();
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_TRUE(replaced) << error;
  struct stat status {};
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, kSelf);
  EXPECT_EQ(status.st_mode & 07777, 0664U) << "no program runs as the new owner or group by accident";
  EXPECT_EQ(read_file(path("a"), 10), "new");
}

TEST_F(WholeFile, IsReplacedWhereALinkLeads) {
  directory_.write("a", "old");
  std::filesystem::create_symlink("a", path("link"));
  ASSERT_TRUE(replace_file(path("link"), "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("a"), 10), "new");
}

TEST_F(WholeFile, IsMadeWhereThereIsNone) {
  ASSERT_TRUE(replace_file(path("a"), "new"));
  struct stat status {};
  ASSERT_EQ(::stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0644U);
}

TEST_F(WholeFile, StaysWhereItCannotBeReplaced) {
  std::filesystem::create_directory(path("a"));
  EXPECT_FALSE(replace_file(path("a"), "new"));
  EXPECT_EQ(files(), 1U) << "no temporary file is left";
  EXPECT_FALSE(replace_file(path("missing/a"), "new"));
  EXPECT_EQ(errno, ENOENT);
}

}  // namespace
}  // namespace podrun
