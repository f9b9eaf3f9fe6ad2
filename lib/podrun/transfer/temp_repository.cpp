// SPDX-License-Identifier: Apache-2.0
// An empty repository in a directory that no other user can exchange: git runs what a repository says.
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/base/text.hpp"
#include "podrun/transfer/git.hpp"

namespace podrun::transfer {
namespace {

/// Whether nobody else can rename files in it, as private_place.sh has it: git runs what a repository says.
bool is_private_place(const std::string& directory) {
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0) return false;
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) return false;
  return (status.st_mode & S_ISVTX) != 0 || (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

TempRepository::TempRepository() {
  std::error_code error;
  std::string directory = std::filesystem::absolute(std::filesystem::temp_directory_path(error)).string();
  if (error || !is_private_place(directory)) directory = "/tmp";
  path_ = directory + "/podrun.XXXXXX";
  if (!is_private_place(directory))
    throw UsageError("push: /tmp: others may change files there (set TMPDIR)");
  if (::mkdtemp(path_.data()) == nullptr)
    throw UsageError(fmt::format("push: {}: {}", directory, lower_first(errno_text())));
  // The least that git takes for a repository, see gitrepository-layout(5).
  for (const std::string_view name : {"git", "git/objects", "git/refs"}) {
    ::mkdir(path(name).c_str(), 0700);
  }
  std::ofstream(path("git/HEAD")) << "ref: refs/heads/main\n";
}

TempRepository::~TempRepository() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> TempRepository::options(const std::string& directory) const {
  return {"-C", directory, "--git-dir=" + path("git"), "--work-tree=.", "-c", "core.excludesFile=/dev/null"};
}

}  // namespace podrun::transfer
