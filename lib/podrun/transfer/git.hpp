// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/base/descriptor.hpp"

namespace podrun::transfer {

/// How a run of git ended.
struct GitRun {
  int error = 0;             ///< an errno value if git could not be started
  int status = -1;           ///< its exit status; -1: a signal ended it
  std::string output = {};   ///< on standard output
  std::string message = {};  ///< why it failed, a line of standard error without `fatal: `
};

/// A value of git's configuration.
struct GitOption {
  std::string name;
  std::string value;
};

struct GitSettings {
  std::vector<std::string> variables = {};    ///< `NAME=VALUE`, before those of this process
  std::vector<GitOption> configuration = {};  ///< kept off the command line; read by git 2.31 and later
  /// git is stopped after a silence on standard error of this length.
  std::optional<std::chrono::milliseconds> silence = {};
  std::function<void()> notice = {};  ///< called once, if git has not ended by `notice_after`
  std::chrono::milliseconds notice_after{5000};
};

/// Runs `git ARGUMENTS` to its end. It takes the repository from its arguments and directory alone, asks no
/// questions, takes no locks, and starts no program that a repository's configuration names. It ends with
/// what it started when this process does.
GitRun run_git(const std::vector<std::string>& arguments, const GitSettings& settings = {});

/// The effect of the last pattern that matches a path.
enum class Match : std::uint8_t { none, ignored, included };

/// A `git check-ignore` that answers for one list of paths after another. It looks at patterns alone, not at
/// what is tracked. A file with patterns is read when the first path beside it is asked about.
class PathCheck {
 public:
  /// `options`: git's, before its command. Throws UsageError: `if_missing` where git is not installed.
  PathCheck(const std::vector<std::string>& options, std::string_view if_missing);
  PathCheck(const PathCheck&) = delete;
  PathCheck& operator=(const PathCheck&) = delete;
  ~PathCheck();

  /// The paths count from git's directory; a final "/" makes one a directory that need not exist. No parent
  /// of a path may be a symbolic link. Throws UsageError when git fails.
  std::vector<Match> ask(const std::vector<std::string>& paths);

 private:
  void receive(std::vector<Match>& answers);
  void take(std::string_view bytes, std::vector<Match>& answers);

  Descriptor socket_;
  pid_t pid_ = 0;
  int field_ = 0;  ///< of the answer that is arriving
  Match match_ = Match::none;
};

/// A directory in $TMPDIR (0700) that holds an empty repository; it is removed with this.
class TempRepository {
 public:
  /// Throws UsageError.
  TempRepository();
  TempRepository(const TempRepository&) = delete;
  TempRepository& operator=(const TempRepository&) = delete;
  ~TempRepository();

  /// A path in the directory, for other uses.
  std::string path(std::string_view name) const { return path_ + '/' + std::string(name); }
  /// Options of git that make `directory` the work tree of this repository, without the user's own patterns.
  std::vector<std::string> options(const std::string& directory) const;

 private:
  std::string path_;
};

}  // namespace podrun::transfer
