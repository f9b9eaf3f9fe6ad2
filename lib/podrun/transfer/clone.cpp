// SPDX-License-Identifier: Apache-2.0
// Keeps shallow clones of git repositories, for the workdir of a task.
#include "podrun/transfer/clone.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/descriptor.hpp"
#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/base/text.hpp"
#include "podrun/transfer/git.hpp"
#include "podrun/transfer/git_address.hpp"

namespace podrun::transfer {
namespace {

namespace fs = std::filesystem;

/// How long a server may say nothing. With --progress git says something each second that something arrives.
constexpr std::chrono::seconds kSilence{120};

class Cloner {
 public:
  Cloner(std::string directory, std::string_view where, const std::function<void(const std::string&)>& say)
      : directory_(std::move(directory)), where_(where), say_(say) {}

  Clone run(const GitAddress& address, const std::string& ref) {
    make_private_directory();
    const Descriptor lock(
        ::open((directory_ + "/podrun.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
    wait_for(lock, address.url);
    const std::string tree = directory_ + "/tree";
    remove_locks(tree + "/.git");
    if (const GitRun made = run_git({"init", "--quiet", tree}); made.error == ENOENT) {
      fail("git is needed to clone it (install git)");
    } else {
      check(made);
    }
    const std::string fetched = fetch(tree, address, ref.empty() ? "HEAD" : ref);
    check(git(tree, {"checkout", "--quiet", "--force", "--detach", fetched},
              {.notice = notice("check out " + shown_url(address.url))}));
    check(git(tree, {"clean", "-ffdxq"}));
    check_commit(tree, ref);
    const GitRun commit = git(tree, {"rev-parse", "--short", "HEAD"});
    check(commit);
    return {tree, std::string(trim_space(commit.output))};
  }

 private:
  [[noreturn]] void fail(std::string_view why) const { throw UsageError(fmt::format("{}: {}", where_, why)); }

  void check(const GitRun& run) const {
    if (run.error != 0) fail("cannot run git: " + lower_first(std::generic_category().message(run.error)));
    if (run.status != 0) fail("git: " + (run.message.empty() ? "it failed" : run.message));
  }

  /// Only this user may write where git runs: a configuration there can name programs.
  void make_private_directory() const {
    const fs::path clones = fs::path(directory_).parent_path();
    const fs::path cache = clones.parent_path();
    std::error_code error;
    fs::create_directories(cache.parent_path(), error);
    for (const std::string& path : {cache.string(), clones.string(), directory_}) {
      struct stat status {};
      ::mkdir(path.c_str(), S_IRWXU);
      if (::lstat(path.c_str(), &status) != 0) fail(fmt::format("{}: {}", path, lower_first(errno_text())));
      if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() ||
          (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        fail(fmt::format("{}: others may write there (remove it)", path));
    }
  }

  /// Removes the lock files that a killed git has left, at which every later git would fail. No other git
  /// works in this clone meanwhile: podrun holds its own lock, see wait_for(), and its git starts none in the
  /// background.
  static void remove_locks(const std::string& repository) {
    std::error_code error;
    fs::recursive_directory_iterator files(repository, error);
    for (; !error && files != fs::recursive_directory_iterator(); files.increment(error)) {
      std::error_code ignored;
      if (files->path().extension() == ".lock" &&
          files->symlink_status(ignored).type() == fs::file_type::regular)
        fs::remove(files->path(), ignored);
    }
  }

  void wait_for(const Descriptor& lock, const std::string& url) const {
    if (lock.is_open() && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return;
    if (errno == EWOULDBLOCK) {
      say_(fmt::format("{}: waiting for another podrun that fetches {}", where_, shown_url(url)));
      if (::flock(lock.get(), LOCK_EX) == 0) return;
    }
    fail(errno_text());
  }

  std::function<void()> notice(std::string what) const {
    return [this, what = std::move(what)] { say_(fmt::format("{}: waiting for git to {}", where_, what)); };
  }

  static GitRun git(const std::string& tree, const std::vector<std::string>& arguments,
                    const GitSettings& settings = {}) {
    std::vector<std::string> words = {"-C", tree,        "-c", "core.hooksPath=/dev/null",
                                      "-c", "gc.auto=0", "-c", "maintenance.auto=false"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run_git(words, settings);
  }

  /// Whether it may be the beginning of a commit's id.
  static bool may_be_commit(const std::string& ref) {
    return ref.size() >= 7 && ref.find_first_not_of("0123456789abcdefABCDEF") == ref.npos;
  }

  /// A branch or tag can have a name that looks like the id of a commit, and git takes it first.
  void check_commit(const std::string& tree, const std::string& ref) const {
    if (!may_be_commit(ref)) return;
    const GitRun commit = git(tree, {"rev-parse", "HEAD"});
    check(commit);
    if (!commit.output.starts_with(lower_case(ref))) {
      fail(
          fmt::format("ref {:?} is a branch or tag of commit {}, not that commit (write refs/heads/{} or "
                      "refs/tags/{}, or all 40 digits of the commit)",
                      ref, trim_space(commit.output), ref, ref));
    }
  }

  /// Fetches as little as the server allows: some give a commit only with all that is before it. Returns what
  /// to check out.
  std::string fetch(const std::string& tree, const GitAddress& address, const std::string& ref) const {
    const auto fetch = [&](std::vector<std::string> options, const std::string& refs) {
      std::vector<std::string> words = address.options;
      words.insert(words.end(), {"fetch", "--progress"});
      words.insert(words.end(), options.begin(), options.end());
      words.insert(words.end(), {"--", address.url, refs});
      return git(tree, words,
                 {.variables = address.variables,
                  .configuration = address.configuration,
                  .silence = kSilence,
                  .notice = notice("fetch " + shown_url(address.url))});
    };
    const GitRun shallow = fetch({"--depth=1", "--no-tags"}, ref);
    if (shallow.status == 0) return "FETCH_HEAD";
    if (!may_be_commit(ref)) check(shallow);
    check(fetch({"--force", "--tags"}, "+refs/heads/*:refs/remotes/origin/*"));
    return ref;
  }

  std::string directory_;
  std::string_view where_;
  const std::function<void(const std::string&)>& say_;
};

}  // namespace

Clone clone_repository(const std::string& url, const std::string& ref, const std::string& cache,
                       std::string_view where, const std::function<void(const std::string&)>& say) {
  if (ref.starts_with('-') || ref.find(':') != ref.npos)
    throw UsageError(fmt::format("{}: bad ref {:?} (expected a branch, a tag or a commit)", where, ref));
  if (url.find('\n') != url.npos)
    throw UsageError(fmt::format("{}: bad url {:?} (expected one line)", where, shown_url(url)));
  // A directory for each ref, so that a launch of another one does not change the files while they are sent.
  return Cloner(fmt::format("{}/clones/{}", cache, short_digest(url + '\n' + ref)), where, say)
      .run(make_git_address(url, where), ref);
}

}  // namespace podrun::transfer
