// SPDX-License-Identifier: Apache-2.0
// The conversation of a push, with push.sh in each shell that may be a host's /bin/sh: a host is a directory.
#include "podrun/transfer/push.hpp"

#include <sys/stat.h>

#include <chrono>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/base/error.hpp"
#include "podrun/report/outcome_words.hpp"

#include "support/run_coroutine.hpp"
#include "support/shell_link.hpp"
#include "support/stream_reader.hpp"

namespace podrun::transfer {
namespace {

namespace fs = std::filesystem;
using test::run_coroutine;
using test::TestHost;
using testing::IsEmpty;
using Reader = test::StreamReader<supervisor::Supervised>;

class PushTest : public testing::TestWithParam<test::Shell> {
 protected:
  PushTest() {
    host_.provide({"env",   "pwd",  "tar", "find", "sort", "stat",  "sed",   "xargs", "readlink", "sha256sum",
                   "b2sum", "gzip", "cat", "mv",   "ln",   "chmod", "touch", "df",    "rmdir",    "id"});
    host_.supervision().run_directory = supervisor::RunDirectory::yes;
  }

  fs::path local(const std::string& name) const { return fs::path(local_.path()) / name; }
  fs::path there(const std::string& name) const { return fs::path(host_.directory().path()) / name; }

  void write(const fs::path& path, const std::string& content, std::int64_t mtime = 1'600'000'000) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
    set_time(path, mtime);
  }
  static void set_time(const fs::path& path, std::int64_t mtime) {
    const timespec times[2] = {{mtime, 0}, {mtime, 0}};
    ::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW);
  }
  static std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  PushRequest request(const std::string& source, const std::string& target) const {
    return {.tree = {.sources = {local_.path() + "/" + source}}, .target = target};
  }

  /// The exit status of the switch, or why there was none.
  std::string push(PushRequest request) {
    transfer::Push push(std::move(request), 1);
    const std::string end =
        run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<std::string> {
          const auto link = host_.link(executor);
          supervisor::Supervised supervised(executor, *link, host_.supervision());
          const std::vector<supervisor::RemoteFile> none;
          co_await supervised.prepare(none, test::drop);
          try {
            co_await push.prepare(0, supervised);
          } catch (const link::HostError& error) {
            co_return report::describe(error.failure());
          }
          supervised.go("", Chunk(switch_command()));
          Reader reader(supervised);
          co_await reader.to_end();
          co_return reader.err() + reader.end();
        });
    share_ = push.shares().front();
    EXPECT_TRUE(test::eventually([&] { return leftovers().empty(); }));
    return end;
  }

  std::vector<std::string> leftovers() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(host_.directory().path())) {
      const std::string name = entry.path().filename();
      if (name.starts_with(".podrun.") || name.starts_with("podrun.")) found.push_back(entry.path());
    }
    return found;
  }

  TestHost host_{GetParam()};
  test::TempDirectory local_;
  HostShare share_;
};

constexpr const char* kDone = "exit 0, closed";

TEST_P(PushTest, CopiesFilesDirectoriesAndLinks) {
  write(local("app/a b"), "one");
  write(local("app/sub/new\nline"), "two");
  write(local("app/-dash"), "");
  fs::create_directories(local("app/empty"));
  fs::create_symlink("../nowhere", local("app/link"));
  ::chmod(local("app/a b").c_str(), 0750);
  EXPECT_EQ(push(request("app", ".")), kDone);
  EXPECT_EQ(read(there("app/a b")), "one");
  EXPECT_EQ(read(there("app/sub/new\nline")), "two");
  EXPECT_TRUE(fs::exists(there("app/-dash")));
  EXPECT_TRUE(fs::is_directory(there("app/empty")));
  EXPECT_EQ(fs::read_symlink(there("app/link")), "../nowhere");
  struct stat status {};
  ::stat(there("app/a b").c_str(), &status);
  EXPECT_EQ(status.st_mode & 07777, 0750U);
  EXPECT_EQ(status.st_mtime, 1'600'000'000);
  EXPECT_EQ(share_.files, 4U);
}

TEST_P(PushTest, StagesAgainBesideAnEarlierAttempt) {
  write(local("app/a"), "one");
  transfer::Push push(request("app", "."), 1);
  const std::string end = run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<std::string> {
    const auto link = host_.link(executor);
    const std::vector<supervisor::RemoteFile> none;
    supervisor::Supervised lost(executor, *link, host_.supervision());
    co_await lost.prepare(none, test::drop);
    co_await push.prepare(0, lost);
    supervisor::Supervised next(executor, *link, host_.supervision());
    co_await next.prepare(none, test::drop);
    co_await push.prepare(0, next);
    next.go("", Chunk(switch_command()));
    Reader reader(next);
    co_await reader.to_end();
    co_return reader.err() + reader.end();
  });
  EXPECT_EQ(end, kDone);
  EXPECT_EQ(read(there("app/a")), "one");
}

TEST_P(PushTest, SendsNothingTheSecondTime) {
  write(local("app/sub/a"), "one");
  fs::create_symlink("a", local("app/link"));
  ASSERT_EQ(push(request("app/", "x/y")), kDone);
  EXPECT_EQ(push(request("app/", "x/y")), kDone);
  EXPECT_EQ(share_.files, 0U);
  EXPECT_EQ(share_.sent, 0U);
}

TEST_P(PushTest, SendsOnlyChangedFiles) {
  for (int i = 0; i < 20; ++i) write(local("app/sub/" + std::to_string(i)), "same");
  ASSERT_EQ(push(request("app/", "app")), kDone);
  write(local("app/sub/3"), "other", 1'600'000'001);
  EXPECT_EQ(push(request("app/", "app")), kDone);
  EXPECT_EQ(share_.files, 1U);
  EXPECT_EQ(share_.bytes, 5U);
  EXPECT_EQ(read(there("app/sub/3")), "other");
}

TEST_P(PushTest, ReplacesOneKindByAnother) {
  write(local("app/a/x"), "in a directory");
  write(local("app/b"), "a file");
  write(local("app/c"), "a file");
  fs::create_symlink("b", local("app/d"));
  write(there("app/a"), "a file");
  write(there("app/b/x"), "in a directory");
  fs::create_symlink("elsewhere", there("app/c"));
  write(there("app/d/e/f"), "deep");
  EXPECT_EQ(push(request("app/", "app")), kDone);
  EXPECT_EQ(read(there("app/a/x")), "in a directory");
  EXPECT_EQ(read(there("app/b")), "a file");
  EXPECT_FALSE(fs::is_symlink(there("app/c")));
  EXPECT_EQ(fs::read_symlink(there("app/d")), "b");
}

TEST_P(PushTest, SetsModesAndTimesWithoutSending) {
  write(local("app/a"), "same");
  ASSERT_EQ(push(request("app/", "app")), kDone);
  ::chmod(local("app/a").c_str(), 0600);
  EXPECT_EQ(push(request("app/", "app")), kDone);
  EXPECT_EQ(share_.files, 0U);
  struct stat status {};
  ::stat(there("app/a").c_str(), &status);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
  set_time(local("app/a"), 1'500'000'000);
  PushRequest by_contents = request("app/", "app");
  by_contents.compare = Compare::contents;
  EXPECT_EQ(push(by_contents), kDone);
  EXPECT_EQ(share_.files, 0U);
  ::stat(there("app/a").c_str(), &status);
  EXPECT_EQ(status.st_mtime, 1'500'000'000);
}

TEST_P(PushTest, ComparesContents) {
  write(local("app/a"), "one");
  write(local("app/new\nline"), "one");
  write(local("app/same"), "same");
  ASSERT_EQ(push(request("app/", "app")), kDone);
  write(local("app/a"), "two");
  EXPECT_EQ(push(request("app/", "app")), kDone);
  EXPECT_EQ(share_.files, 0U) << "same size and time";
  PushRequest by_contents = request("app/", "app");
  by_contents.compare = Compare::contents;
  EXPECT_EQ(push(by_contents), kDone);
  EXPECT_EQ(read(there("app/a")), "two");
}

TEST_P(PushTest, WritesIntoReadOnlyDirectories) {
  write(local("app/sub/a"), "one");
  ::chmod(local("app/sub/a").c_str(), 0444);
  ::chmod(local("app/sub").c_str(), 0555);
  ::chmod(local("app").c_str(), 0555);
  ASSERT_EQ(push(request("app/", "app")), kDone);
  ::chmod(local("app/sub/a").c_str(), 0644);
  write(local("app/sub/a"), "two", 1'600'000'002);
  EXPECT_EQ(push(request("app/", "app")), kDone);
  EXPECT_EQ(read(there("app/sub/a")), "two");
  struct stat status {};
  ::stat(there("app/sub").c_str(), &status);
  EXPECT_EQ(status.st_mode & 07777, 0555U);
  for (const char* each : {"app", "app/sub"}) {
    ::chmod(local(each).c_str(), 0755);
    ::chmod(there(each).c_str(), 0755);
  }
}

TEST_P(PushTest, DeletesPathsThatOnlyTheHostHas) {
  write(local("app/a"), "one");
  write(local("app/.gitignore"), "*.log\n");
  write(there("app/a"), "older");
  write(there("app/old/x/y"), "old");
  write(there("app/kept/train.log"), "ignored");
  write(there("app/kept/z"), "old");
  write(there("other"), "other");
  PushRequest deleting = request("app/", "app");
  deleting.remove = Delete::yes;
  EXPECT_EQ(push(deleting), kDone);
  EXPECT_FALSE(fs::exists(there("app/old")));
  EXPECT_FALSE(fs::exists(there("app/kept/z")));
  EXPECT_TRUE(fs::exists(there("app/kept/train.log")));
  EXPECT_TRUE(fs::exists(there("other")));
}

TEST_P(PushTest, NamesASingleFileAfterTheTarget) {
  write(local("a"), "one");
  EXPECT_EQ(push(request("a", "b")), kDone);
  EXPECT_EQ(read(there("b")), "one");
  fs::create_directories(there("dir"));
  EXPECT_EQ(push(request("a", "dir")), kDone);
  EXPECT_EQ(read(there("dir/a")), "one");
  EXPECT_EQ(push(request("a", "new/")), kDone);
  EXPECT_EQ(read(there("new/a")), "one");
  EXPECT_EQ(push(request("a", "~/x/y")), kDone);
  EXPECT_EQ(read(there("x/y")), "one");
}

TEST_P(PushTest, ChangesNothingInADryRun) {
  write(local("app/a"), "one");
  PushRequest looking = request("app", ".");
  looking.only_look = true;
  push(looking);
  EXPECT_EQ(share_.chosen.size(), 2U);
  EXPECT_FALSE(fs::exists(there("app")));
}

TEST_P(PushTest, SaysWhyAHostCannotBeWritten) {
  write(local("app/a"), "one");
  write(there("file"), "a file");
  EXPECT_EQ(push(request("app", "file/x")), "copying: file: not a directory");
  EXPECT_THAT(push(request("app", "/proc")), testing::HasSubstr("/proc/.podrun."));
}

TEST_P(PushTest, ReportsAFileThatChanges) {
  write(local("app/a"), std::string(1'000'000, 'x'));
  PushRequest changing = request("app", ".");
  transfer::Push push(changing, 1);
  write(local("app/a"), "shorter", 1'600'000'009);
  const std::string why = run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<std::string> {
    const auto link = host_.link(executor);
    supervisor::Supervised supervised(executor, *link, host_.supervision());
    const std::vector<supervisor::RemoteFile> none;
    co_await supervised.prepare(none, test::drop);
    try {
      co_await push.prepare(0, supervised);
    } catch (const link::HostError& error) {
      co_return report::describe(error.failure());
    }
    co_return "none";
  });
  EXPECT_THAT(why, testing::HasSubstr("changed while it was being copied"));
  EXPECT_TRUE(test::eventually([&] { return leftovers().empty(); }));
}

INSTANTIATE_TEST_SUITE_P(All, PushTest, testing::ValuesIn(test::host_shells()), test::ShellName());

}  // namespace
}  // namespace podrun::transfer
