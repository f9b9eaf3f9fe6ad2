// SPDX-License-Identifier: Apache-2.0
// The conversation of a pull, with its programs in each shell that may be a host's /bin/sh: a host is a
// directory.
#include "podrun/transfer/pull.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "podrun/report/outcome_words.hpp"

#include "support/run_coroutine.hpp"
#include "support/shell_link.hpp"
#include "support/stream_reader.hpp"

namespace podrun::transfer {
namespace {

namespace fs = std::filesystem;
using test::run_coroutine;
using test::TestHost;
using testing::ElementsAre;
using Reader = test::StreamReader<supervisor::Supervised>;

class PullTest : public testing::TestWithParam<test::Shell> {
 protected:
  PullTest() { host_.provide({"find", "stat", "xargs", "tar"}); }

  void write(const std::string& name, const std::string& content) const {
    const fs::path path = there(name);
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(here(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  fs::path there(const std::string& name) const { return fs::path(host_.directory().path()) / name; }
  fs::path here(const std::string& name) const { return fs::path(local_.path()) / "3-h" / name; }

  /// `exit 0, closed`, or why something is missing.
  std::string pull(const std::vector<std::string>& words) {
    request_.words = words;
    request_.destination = local_.path();
    Pull pull(request_, {{.worker = 3, .name = "h"}});
    const std::string end =
        run_coroutine([&](asio::any_io_executor executor) -> asio::awaitable<std::string> {
          const auto link = host_.link(executor);
          supervisor::Supervised supervised(executor, *link, host_.supervision());
          const std::vector<supervisor::RemoteFile> none;
          co_await supervised.prepare(none, test::drop);
          try {
            co_await pull.prepare(0, supervised);
          } catch (const link::HostError& error) {
            co_return report::describe(error.failure());
          }
          supervised.go("", Chunk(std::string("set -- /bin/sh -c :")));
          Reader reader(supervised);
          co_await reader.to_end();
          co_return reader.err() + reader.end();
        });
    pulled_ = pull.pulled().front();
    return end;
  }

  TestHost host_{GetParam()};
  test::TempDirectory local_;
  PullRequest request_;
  PulledHost pulled_;
};

INSTANTIATE_TEST_SUITE_P(Shells, PullTest, testing::ValuesIn(test::host_shells()), test::ShellName());

TEST_P(PullTest, CopiesOnlyMissingFiles) {
  write("logs/a", "abc");
  write("logs/d/b", "");
  EXPECT_EQ(pull({"logs"}), "exit 0, closed");
  EXPECT_EQ(pulled_.files, 2);
  EXPECT_EQ(pulled_.bytes, 3);
  EXPECT_EQ(read("logs/a"), "abc");
  EXPECT_TRUE(fs::exists(here("logs/d/b")));

  EXPECT_EQ(pull({"logs"}), "exit 0, closed");
  EXPECT_EQ(pulled_.files, 0);
  EXPECT_EQ(pulled_.unchanged, 2);

  write("logs/a", "longer");
  EXPECT_EQ(pull({"logs/a", "logs/"}), "exit 0, closed");
  EXPECT_EQ(pulled_.files, 2) << "a and d/b have other places now";
  EXPECT_EQ(read("a"), "longer");
}

TEST_P(PullTest, CopiesTheRestIfAPartIsMissing) {
  write("logs/a", "abc");
  EXPECT_EQ(pull({"none*", "logs", "b", "c", "d"}),
            "copying: none*, b, c and 1 more: no such file or directory there");
  EXPECT_EQ(read("logs/a"), "abc");
  EXPECT_EQ(pulled_.files, 1);
}

TEST_P(PullTest, CopiesFromHomeAndFromTheRoot) {
  write("a", "1");
  write("d/b", "2");
  EXPECT_EQ(pull({"d/../a", there("d").string()}), "exit 0, closed");
  EXPECT_EQ(read("a") + read("d/b"), "12");
  EXPECT_EQ(pull({"a"}), "exit 0, closed");
  EXPECT_EQ(pulled_.unchanged, 1);
  EXPECT_EQ(read("a") + read("d/b"), "12");
}

TEST_P(PullTest, CopiesNothingInADryRun) {
  write("logs/a", "abc");
  write("logs/b", "d");
  request_.only_look = true;
  EXPECT_EQ(pull({"logs"}), "exit 0, closed");
  EXPECT_THAT(pulled_.chosen, ElementsAre("logs/a", "logs/b"));
  EXPECT_EQ(pulled_.bytes, 4);
  EXPECT_TRUE(local_.empty());
}

TEST_P(PullTest, CopiesNothingIfThereIsTooMuch) {
  write("logs/a", std::string(2000, 'x'));
  request_.max_size = 1999;
  EXPECT_EQ(pull({"logs"}), "copying: 2.0 kB to copy: more than --max-size 2.0 kB");
  EXPECT_FALSE(fs::exists(here("logs")));
  request_.max_size = 2000;
  EXPECT_EQ(pull({"logs"}), "exit 0, closed");
}

TEST_P(PullTest, SendsNamesWhileFilesArrive) {
  for (int i = 0; i < 3000; ++i)
    write(fmt::format("all/{}{}", std::string(150, 'n'), i), std::string(500, 'x'));
  EXPECT_EQ(pull({"all"}), "exit 0, closed");
  EXPECT_EQ(pulled_.files, 3000);
}

TEST_P(PullTest, NamesThePathThatCannotBeWrittenHere) {
  write("logs/a", "abc");
  fs::create_directories(here("logs/a/b"));
  EXPECT_EQ(pull({"logs"}), "copying: " + here("logs/a").string() + ": Directory not empty");
}

}  // namespace
}  // namespace podrun::transfer
