// SPDX-License-Identifier: Apache-2.0
// Keeps shallow clones of git repositories, for the workdir of a task.
#include "podrun/transfer/clone.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/at_end.hpp"
#include "podrun/base/descriptor.hpp"
#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/base/text.hpp"
#include "podrun/transfer/git.hpp"

namespace podrun::transfer {
namespace {

namespace fs = std::filesystem;

/// How long a server may say nothing. With --progress git says something each second that something arrives.
constexpr std::chrono::seconds kSilence{120};

/// The text between quotes of a configuration file, see git-config(1).
std::string quoted_for_git(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

class Cloner {
 public:
  Cloner(std::string directory, std::string_view where) : directory_(std::move(directory)), where_(where) {}

  Clone run(const std::string& url, const std::string& ref) {
    make_private_directory();
    const Descriptor lock(
        ::open((directory_ + "/podrun.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!lock.is_open() || ::flock(lock.get(), LOCK_EX) != 0) fail(errno_text());
    const std::string tree = directory_ + "/tree";
    if (const GitRun made = run_git({"init", "--quiet", tree}); made.error == ENOENT) {
      fail("git is needed to clone it (install git)");
    } else {
      check(made);
    }
    const std::string config = tree + "/.git/config";
    const std::string core = "[core]\n\trepositoryformatversion = 0\n";
    const AtEnd forget([&] { replace_file(config, core); });  // the URL may have a token
    if (!replace_file(config, fmt::format("{}[remote \"origin\"]\n\turl = {}\n", core, quoted_for_git(url))))
      fail(errno_text());
    const std::string fetched = fetch(tree, ref.empty() ? "HEAD" : ref);
    check(git(tree, {"checkout", "--quiet", "--force", "--detach", fetched}));
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

  static GitRun git(const std::string& tree, std::vector<std::string> arguments,
                    std::optional<std::chrono::seconds> silence = std::nullopt) {
    // The limits of HTTP also end a git whose podrun was killed.
    arguments.insert(arguments.begin(),
                     {"-C", tree, "-c", "core.hooksPath=/dev/null", "-c", "http.lowSpeedLimit=1", "-c",
                      fmt::format("http.lowSpeedTime={}", kSilence.count())});
    return run_git(arguments, silence);
  }

  /// Whether it may be the beginning of a commit's id.
  static bool may_be_commit(const std::string& ref) {
    return ref.size() >= 7 && ref.find_first_not_of("0123456789abcdef") == ref.npos;
  }

  /// A branch or tag can have a name that looks like the id of a commit, and git takes it first.
  void check_commit(const std::string& tree, const std::string& ref) const {
    if (!may_be_commit(ref)) return;
    const GitRun commit = git(tree, {"rev-parse", "HEAD"});
    check(commit);
    if (!commit.output.starts_with(ref)) {
      fail(
          fmt::format("ref {:?} is a branch or tag of commit {}, not that commit (write refs/heads/{} or "
                      "refs/tags/{}, or all 40 digits of the commit)",
                      ref, trim_space(commit.output), ref, ref));
    }
  }

  /// Fetches as little as the server allows: some give a commit only with all that is before it. Returns what
  /// to check out.
  std::string fetch(const std::string& tree, const std::string& ref) const {
    const GitRun shallow =
        git(tree, {"fetch", "--progress", "--depth=1", "--no-tags", "origin", ref}, kSilence);
    if (shallow.status == 0) return "FETCH_HEAD";
    if (!may_be_commit(ref)) check(shallow);
    check(git(tree,
              {"fetch", "--progress", "--force", "--tags", "origin", "+refs/heads/*:refs/remotes/origin/*"},
              kSilence));
    return ref;
  }

  std::string directory_;
  std::string_view where_;
};

}  // namespace

Clone clone_repository(const std::string& url, const std::string& ref, const std::string& cache,
                       std::string_view where) {
  if (ref.starts_with('-') || ref.find(':') != ref.npos)
    throw UsageError(fmt::format("{}: bad ref {:?} (expected a branch, a tag or a commit)", where, ref));
  if (url.find('\n') != url.npos)
    throw UsageError(fmt::format("{}: bad url {:?} (expected one line)", where, url));
  // A directory for each ref, so that a launch of another one does not change the files while they are sent.
  return Cloner(fmt::format("{}/clones/{}", cache, short_digest(url + '\n' + ref)), where).run(url, ref);
}

}  // namespace podrun::transfer
