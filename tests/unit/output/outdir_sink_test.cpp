// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "podrun/output/make_sinks.hpp"

#include "support/temp_directory.hpp"
#include "support/usage_error.hpp"

namespace podrun::output {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using test::TempDirectory;

constexpr StreamId kOut = StreamId::out;
constexpr StreamId kErr = StreamId::err;

std::vector<hosts::Host> two_hosts() {
  std::vector<hosts::Host> hosts(2);
  hosts[0].worker = 4;
  hosts[0].name = "tpu-4";
  hosts[1].worker = 7;
  hosts[1].name = "2001:db8::1";
  return hosts;
}

const std::vector<hosts::Host> kHosts = two_hosts();

class OutdirSinkTest : public testing::Test {
 protected:
  std::unique_ptr<Sink> make(EarlierOutput earlier = EarlierOutput::refuse,
                             const std::vector<hosts::Host>& hosts = kHosts) {
    return make_outdir_sink(hosts, directory_.path("a/b"), earlier, {.directory = directory_.path("")});
  }
  std::unique_ptr<Sink> start(EarlierOutput earlier = EarlierOutput::refuse,
                              const std::vector<hosts::Host>& hosts = kHosts) {
    auto sink = make(earlier, hosts);
    sink->started();
    return sink;
  }
  std::string names() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path("a/b")))
      names.insert(entry.path().filename());
    return fmt::format("{}", fmt::join(names, " "));
  }
  std::string read(const std::string& name) const { return directory_.read("a/b/" + name); }
  static void give(Sink& sink, std::size_t host, StreamId stream, std::string_view bytes) {
    sink.line({host, stream, bytes, LineEnd::piece});
  }

  const TempDirectory directory_;
};

TEST_F(OutdirSinkTest, MakesAllFilesAtTheStart) {
  const auto sink = start();
  EXPECT_EQ(sink->feed(), Feed::chunks);
  for (const char* name : {"4-tpu-4.out", "4-tpu-4.err", "7-2001:db8::1.out", "7-2001:db8::1.err"}) {
    EXPECT_TRUE(directory_.has("a/b/"s + name)) << name;
  }
}

TEST_F(OutdirSinkTest, KeepsEveryByte) {
  const auto sink = start();
  const std::string bytes("a\0\r\n\xff", 5);
  give(*sink, 0, kOut, bytes);
  give(*sink, 0, kErr, "err");
  give(*sink, 1, kOut, "one");
  give(*sink, 0, kOut, bytes);
  sink->finish();
  EXPECT_EQ(read("4-tpu-4.out"), bytes + bytes);
  EXPECT_EQ(read("4-tpu-4.err"), "err");
  EXPECT_EQ(read("7-2001:db8::1.out"), "one");
  EXPECT_EQ(read("7-2001:db8::1.err"), "");
}

TEST_F(OutdirSinkTest, KeepsTheOrderOfLargeAndSmall) {
  const auto sink = start();
  std::string expected;
  for (std::size_t i = 0; i < 200; ++i) {
    const std::string bytes(i % 3 == 0 ? 32 * 1024 : i, static_cast<char>('a' + i % 26));
    give(*sink, 1, kErr, bytes);
    expected += bytes;
  }
  give(*sink, 1, kErr, std::string(1'000'000, '!'));
  expected.append(1'000'000, '!');
  sink->host_ended(1);
  EXPECT_TRUE(read("7-2001:db8::1.err") == expected);
}

TEST_F(OutdirSinkTest, WritesASecondAfterTheFirstByteAtTheLatest) {
  const auto sink = start();
  const Sink::TimePoint start{1h};
  EXPECT_EQ(sink->next_tick(), Sink::TimePoint::max());
  sink->tick(start);
  give(*sink, 0, kOut, "a");
  sink->tick(start + 600ms);
  give(*sink, 1, kOut, "b");
  EXPECT_EQ(sink->next_tick(), start + 1s);
  EXPECT_EQ(read("4-tpu-4.out"), "");
  sink->tick(start + 1s);
  EXPECT_EQ(read("4-tpu-4.out"), "a");
  EXPECT_EQ(read("7-2001:db8::1.out"), "b");
  EXPECT_EQ(sink->next_tick(), Sink::TimePoint::max());
}

TEST_F(OutdirSinkTest, WritesWhenAHostEnds) {
  const auto sink = start();
  give(*sink, 0, kErr, "a");
  give(*sink, 1, kErr, "b");
  sink->host_ended(0);
  EXPECT_EQ(read("4-tpu-4.err"), "a");
  EXPECT_EQ(read("7-2001:db8::1.err"), "");
}

TEST_F(OutdirSinkTest, KeepsADirectoryThatItMadeOutOfGit) {
  const auto sink = start();
  EXPECT_EQ(read(".gitignore"), "*\n");
}

TEST_F(OutdirSinkTest, PutsNothingElseIntoADirectoryThatWasThere) {
  std::filesystem::create_directories(directory_.path("a/b"));
  const auto sink = make();
  EXPECT_EQ(names(), "");
}

TEST_F(OutdirSinkTest, ReplacesWhatTheRunBeforeHasReleased) {
  give(*start(), 0, kOut, "not found");
  release_outdir(directory_.path("a/b"));
  const auto sink = start();
  EXPECT_EQ(read("4-tpu-4.out"), "");
  EXPECT_THROW(make(), UsageError);
}

TEST_F(OutdirSinkTest, WritesNothingBeforeTheStart) {
  const auto sink = make();
  const std::string much(300'000, 'x');
  give(*sink, 0, kErr, "noise of a .bashrc");
  give(*sink, 1, kOut, much);
  sink->host_ended(1);
  EXPECT_EQ(names(), ".gitignore");
  sink->started();
  give(*sink, 0, kErr, ", and more");
  sink->finish();
  EXPECT_EQ(read("4-tpu-4.err"), "noise of a .bashrc, and more");
  EXPECT_TRUE(read("7-2001:db8::1.out") == much);
}

TEST_F(OutdirSinkTest, KeepsTheOutputOfAnEarlierRunUnlessToldToReplaceIt) {
  std::filesystem::create_directories(directory_.path("a/b"));
  directory_.write("a/b/9-gone.err", "earlier");  // of a host that is not in this run
  EXPECT_EQ(usage_error([&] { make(); }),
            "--outdir: \"" + directory_.path("a/b") +
                "\" holds the output of an earlier run (add to it with --append, replace it with --force, or "
                "give another directory)");
  for (const EarlierOutput earlier : {EarlierOutput::append, EarlierOutput::replace}) {
    const auto sink = make(earlier);
    give(*sink, 0, kOut, "never started");
    sink->finish();
  }
  EXPECT_EQ(read("9-gone.err"), "earlier");
  EXPECT_FALSE(directory_.has("a/b/4-tpu-4.out"));
}

TEST_F(OutdirSinkTest, WritesToNoFileThatAnotherRunHasMadeSince) {
  const auto first = make();
  const auto second = start();
  give(*second, 0, kOut, "second");
  second->finish();
  first->started();
  give(*first, 0, kOut, "first");
  first->finish();
  EXPECT_EQ(read("4-tpu-4.out"), "second");
  ASSERT_NE(first->error(), nullptr);
  EXPECT_EQ(*first->error(), directory_.path("a/b/4-tpu-4.out") + ": File exists");
}

TEST_F(OutdirSinkTest, AddsToTheOutputOfAnEarlierRun) {
  for (const char* text : {"earlier, ", "now"}) {
    const auto sink = start(EarlierOutput::append);
    give(*sink, 0, kOut, text);
    sink->finish();
  }
  EXPECT_EQ(read("4-tpu-4.out"), "earlier, now");
}

TEST_F(OutdirSinkTest, ReplacesTheOutputOfAnEarlierRunAndNothingElse) {
  std::filesystem::create_directories(directory_.path("a/b/5-directory.out"));
  for (const char* name : {"4-tpu-4.out", "9-gone.err", "notes.out", "4-tpu-4.log", "-x.out"})
    directory_.write("a/b/"s + name, "earlier");
  const auto sink = start(EarlierOutput::replace);
  EXPECT_EQ(read("4-tpu-4.out"), "");
  EXPECT_FALSE(directory_.has("a/b/9-gone.err"));
  for (const char* name : {"5-directory.out", "notes.out", "4-tpu-4.log", "-x.out"})
    EXPECT_TRUE(directory_.has("a/b/"s + name)) << name;
  give(*sink, 0, kOut, "now");
  sink->finish();
  EXPECT_EQ(read("4-tpu-4.out"), "now");
}

TEST_F(OutdirSinkTest, GoesOnInANewFileWhenOneIsMovedAway) {
  const auto sink = start();
  give(*sink, 0, kOut, "a");
  sink->finish();
  std::filesystem::rename(directory_.path("a/b/4-tpu-4.out"), directory_.path("a/b/old"));
  give(*sink, 0, kOut, "b");
  sink->finish();
  EXPECT_EQ(read("old"), "a");
  EXPECT_EQ(read("4-tpu-4.out"), "b");
}

TEST_F(OutdirSinkTest, NoNameLeavesTheDirectory) {
  std::vector<hosts::Host> hosts(2);
  hosts[0].name = "../../x";
  hosts[1].worker = 1;
  hosts[1].name = "..";
  const auto sink = start(EarlierOutput::refuse, hosts);
  EXPECT_TRUE(directory_.has("a/b/0-.._.._x.out"));
  EXPECT_TRUE(directory_.has("a/b/1-...err"));
}

TEST_F(OutdirSinkTest, ObeysTheUmask) {
  const mode_t before = ::umask(027);
  const auto sink = start();
  ::umask(before);
  struct stat status {};
  ASSERT_EQ(::stat(directory_.path("a/b/4-tpu-4.out").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
}

TEST_F(OutdirSinkTest, NamesWhatCannotBeCreated) {
  directory_.write("a", "a file");
  EXPECT_EQ(usage_error([&] { start(); }),
            "--outdir: cannot create \"" + directory_.path("a/b") + "\": Not a directory");
  std::filesystem::remove(directory_.path("a"));
  std::filesystem::create_directories(directory_.path("a/b/7-2001:db8::1.out"));
  EXPECT_EQ(usage_error([&] { start(); }),
            "--outdir: cannot create \"" + directory_.path("a/b/7-2001:db8::1.out") + "\": Is a directory");
}

TEST_F(OutdirSinkTest, FollowsNoLink) {
  std::filesystem::create_directories(directory_.path("a/b"));
  std::filesystem::create_symlink(directory_.write("other", "kept"), directory_.path("a/b/4-tpu-4.out"));
  for (const EarlierOutput earlier : {EarlierOutput::refuse, EarlierOutput::append})
    EXPECT_NE(usage_error([&] { start(earlier); }), "no error");
  EXPECT_EQ(directory_.read("other"), "kept");
  start(EarlierOutput::replace);
  EXPECT_EQ(directory_.read("other"), "kept");
}

TEST_F(OutdirSinkTest, SaysOnceWhatCouldNotBeWrittenAndGoesOnWithTheOthers) {
  const auto sink = start();
  std::filesystem::remove(directory_.path("a/b/4-tpu-4.out"));
  std::filesystem::create_directory(directory_.path("a/b/4-tpu-4.out"));
  give(*sink, 0, kOut, "a");
  EXPECT_EQ(sink->error(), nullptr);
  sink->finish();
  ASSERT_NE(sink->error(), nullptr);
  const std::string error = directory_.path("a/b/4-tpu-4.out") + ": Is a directory";
  EXPECT_EQ(*sink->error(), error);
  std::filesystem::remove(directory_.path("a/b/4-tpu-4.out"));
  give(*sink, 0, kOut, "dropped");
  give(*sink, 0, kErr, "kept");
  sink->finish();
  EXPECT_FALSE(directory_.has("a/b/4-tpu-4.out"));
  EXPECT_EQ(read("4-tpu-4.err"), "kept");
  EXPECT_EQ(*sink->error(), error);
}

TEST_F(OutdirSinkTest, HoldsNoFileOpen) {
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = open_files();
  const auto sink = start(EarlierOutput::refuse, std::vector<hosts::Host>(1));
  give(*sink, 0, kOut, std::string(1'000'000, 'x'));
  give(*sink, 0, kErr, "y");
  EXPECT_EQ(open_files(), before);
}

}  // namespace
}  // namespace podrun::output
