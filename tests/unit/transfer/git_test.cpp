// SPDX-License-Identifier: Apache-2.0
#include "podrun/transfer/git.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "podrun/base/error.hpp"
#include "podrun/transfer/git_address.hpp"

#include "unit/transfer/source_tree.hpp"

namespace podrun::transfer {
namespace {

using std::chrono::milliseconds;

/// Runs a script in place of git.
GitRun run_as_git(const SourceTree& tree, const std::string& script, const GitSettings& settings = {}) {
  tree.write("bin/git", "#!/bin/sh\n" + script);
  ::chmod(tree.path("bin/git").c_str(), 0755);
  const ScopedVariable path("PATH", tree.path("bin") + ":/usr/bin:/bin");
  return run_git({"fetch"}, settings);
}

TEST(Git, EndsWithAllThatItStartedAfterASilence) {
  const SourceTree tree;
  // The pipe has no end before the last of them has ended.
  const GitRun run =
      run_as_git(tree, "echo one >&2; sh -c 'sleep 1000; :'; sleep 1000", {.silence = milliseconds(300)});
  EXPECT_EQ(run.status, -1);
  EXPECT_TRUE(run.message.starts_with("no answer for")) << run.message;
}

TEST(Git, MayTakeLongWhileItSaysSomething) {
  const SourceTree tree;
  const GitRun run = run_as_git(
      tree,
      "for i in 1 2 3 4 5 6 7 8; do sleep 0.5; echo $i >&2; done; echo fatal: no such host >&2; exit 128",
      {.silence = milliseconds(3000)});
  EXPECT_EQ(run.status, 128);
  EXPECT_EQ(run.message, "no such host");
}

TEST(Git, MaySayMoreThanIsKept) {
  const SourceTree tree;
  const GitRun run = run_as_git(
      tree, "echo fatal: early >&2; yes 'remote: much' | head -n 200000 >&2; echo fatal: late >&2; exit 1");
  EXPECT_EQ(run.message, "late");
}

TEST(Git, IsNotWaitedForAfterItsEnd) {
  const SourceTree tree;
  const std::string file = tree.path("pid");
  const GitRun run = run_as_git(
      tree, "sleep 1000 >/dev/null & echo $! >" + file + "; echo fatal: no such host >&2; exit 128",
      {.silence = milliseconds(10000)});
  EXPECT_EQ(run.status, 128);
  EXPECT_EQ(run.message, "no such host");
  pid_t helper = 0;
  std::ifstream(file) >> helper;
  ASSERT_GT(helper, 0);
  EXPECT_EQ(::kill(helper, SIGKILL), 0) << "a helper of ssh serves later commands";
}

TEST(Git, SaysWhyItFailed) {
  const SourceTree tree;
  const auto reason = [&](const std::string& said) {
    tree.write("said", said);
    return run_as_git(tree, "cat " + tree.path("said") + " >&2; exit 128").message;
  };
  const std::string no_access =
      "fatal: Could not read from remote repository.\n\nPlease make sure you have the correct access "
      "rights\n";
  EXPECT_EQ(reason("git@host: Permission denied (publickey).\r\n" + no_access),
            "git@host: Permission denied (publickey).");
  EXPECT_EQ(reason("Warning: Permanently added 'host' to the list of known hosts.\r\n"
                   "ERROR: Repository not found.\n" +
                   no_access),
            "ERROR: Repository not found.");
  EXPECT_EQ(reason("Warning: Permanently added 'host' to the list of known hosts.\r\n" + no_access),
            "Could not read from remote repository.");
  EXPECT_EQ(reason("remote: Enumerating objects: 9, done.\nReceiving objects:  50% (1/2)\r"
                   "fatal: early EOF\nfatal: fetch-pack: invalid index-pack output\n"),
            "early EOF");
  EXPECT_EQ(reason("remote: Enumerating objects: 9, done.        \nReceiving objects: 100% (2/2), done.\r\n"
                   "error: cannot write\n"),
            "error: cannot write");
  EXPECT_EQ(reason("remote: Counting objects:  50% (1/2)\r"), "");
}

TEST(Git, IsToldOfOnceIfItTakesLong) {
  const SourceTree tree;
  int notices = 0;
  const auto count = [&notices] { ++notices; };
  run_as_git(tree, "sleep 0.5; echo >&2; sleep 0.5", {.notice = count, .notice_after = milliseconds(100)});
  EXPECT_EQ(notices, 1);
  run_as_git(tree, "echo >&2", {.notice = count, .notice_after = std::chrono::hours(1)});
  EXPECT_EQ(notices, 1);
}

TEST(Git, KnowsWhetherItIsThere) {
  const SourceTree tree;
  tree.make("none");
  const ScopedVariable path("PATH", tree.path("none"));
  EXPECT_EQ(run_git({"init"}).error, ENOENT);
}

TEST(Git, GetsConfigurationBesidesThatOfItsUser) {
  const SourceTree tree;
  const ScopedVariable count("GIT_CONFIG_COUNT", "1");
  const ScopedVariable key("GIT_CONFIG_KEY_0", "a.one");
  const ScopedVariable value("GIT_CONFIG_VALUE_0", "1");
  const GitRun run =
      run_git({"config", "--get-regexp", "^a\\."}, {.configuration = {{"a.two", "2"}, {"a.three", "3"}}});
  EXPECT_EQ(run.output, "a.one 1\na.two 2\na.three 3\n");
}

TEST(GitAddress, HasNoLoginOfAUrl) {
  const auto url_of = [](const std::string& url) { return make_git_address(url, "").url; };
  EXPECT_EQ(url_of("https://user:token@host/a/b.git"), "https://host/a/b.git");
  EXPECT_EQ(url_of("HTTPS://to%6ben@[::1]:8443/a@b?x#y"), "https://[::1]:8443/a@b?x#y");
  EXPECT_EQ(url_of("http://a:b@c@host"), "http://host");
  for (const char* const url : {"https://host/a", "https://host/~me@x", "ssh://git@host/a", "git@host:a/b",
                                "file:///a@b/c", "../a", "/a:b@c"})
    EXPECT_EQ(url_of(url), url);
}

TEST(GitAddress, GivesTheLoginInVariables) {
  const GitAddress address = make_git_address("https://us%20er:a%3ab@host:1/x", "");
  EXPECT_EQ(address.variables,
            (std::vector<std::string>{"PODRUN_GIT_USER=us er", "PODRUN_GIT_PASSWORD=a:b"}));
  EXPECT_THROW(make_git_address("https://a:b%0aurl=c@host/", "x"), UsageError);
}

TEST(GitAddress, IsShownWithoutSecrets) {
  EXPECT_EQ(shown_url("https://user:p@ss@host:1/a?token=1#2"), "https://host:1/a");
  EXPECT_EQ(shown_url("ssh://me:x@host/a"), "ssh://host/a");
  EXPECT_EQ(shown_url("git@github.com:a/b.git"), "git@github.com:a/b.git");
}

}  // namespace
}  // namespace podrun::transfer
