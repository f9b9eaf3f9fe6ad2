// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>  // setenv

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "podrun/transfer/local_tree.hpp"

#include "support/run_shell.hpp"
#include "support/temp_directory.hpp"

namespace podrun::transfer {

/// A directory of the test's own, for local trees.
class SourceTree {
 public:
  std::string path(const std::string& name) const { return directory_.path(name); }
  std::string path() const { return directory_.path(); }

  void make(const std::string& name) const { std::filesystem::create_directories(path(name)); }
  std::string write(const std::string& name, const std::string& content = "text") const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    return directory_.write(name, content);
  }
  void link(const std::string& name, const std::string& target) const {
    std::filesystem::create_symlink(target, path(name));
  }

  /// The output of git there, with the user's own settings, which podrun's git has too.
  std::string git(const std::string& directory, const std::vector<std::string>& words) const {
    std::vector<std::string> all = {"git", "-C", path(directory)};
    all.insert(all.end(), words.begin(), words.end());
    const char* const home = std::getenv("HOME");
    return test::run_words(all, {}, {std::string("HOME=") + (home ? home : "/")}).output;
  }
  void make_repository(const std::string& directory) const {
    make(directory);
    git(directory, {"init", "-q"});
  }

 private:
  test::TempDirectory directory_;
};

/// Gives this process an environment variable for a while.
class ScopedVariable {
 public:
  ScopedVariable(std::string name, const std::string& value) : name_(std::move(name)) {
    if (const char* const before = std::getenv(name_.c_str())) before_ = before;
    ::setenv(name_.c_str(), value.c_str(), 1);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() {
    if (before_) {
      ::setenv(name_.c_str(), before_->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }

 private:
  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace podrun::transfer
