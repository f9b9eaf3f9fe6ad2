// SPDX-License-Identifier: Apache-2.0
#include "save_hosts.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/hosts/saved_list.hpp"
#include "podrun/hosts/sources.hpp"
#include "podrun/hosts/text.hpp"
#include "podrun/output/file.hpp"

namespace podrun {
namespace {

[[noreturn]] void fail(const std::string& path) {
  throw UsageError(fmt::format("cannot write {:?}: {}", path, std::generic_category().message(errno)));
}

/// By a new file beside it that takes its place, so that nobody ever reads a part of it.
void write_at_once(const std::string& path, const std::string& text) {
  std::string beside = path + ".XXXXXX";
  File file(::mkostemp(beside.data(), O_CLOEXEC));
  const bool is_written = file.is_open() && file.write(text) && ::fchmod(file.descriptor(), 0644) == 0 &&
                          file.close() && std::rename(beside.c_str(), path.c_str()) == 0;
  if (is_written) return;
  const int error = errno;
  if (file.is_open() || std::filesystem::exists(beside)) std::remove(beside.c_str());
  errno = error;
  fail(path);
}

}  // namespace

std::string save_hosts(const Discovery& found, Overwrite overwrite, const Probe& probe) {
  const std::optional<std::string> path = podips_path(probe);
  if (!path) throw UsageError("--save: no $HOME to write podips.txt to (set it)");
  struct stat status {};
  if (overwrite == Overwrite::refuse && ::lstat(path->c_str(), &status) == 0) {
    throw UsageError(fmt::format("--save: {} exists (replace it with --force)", *path));
  }
  const std::string text = saved_list(found.all, probe);
  write_at_once(*path, text);
  const bool has_all =
      static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) >= found.all.size();
  return has_all ? fmt::format("wrote {}: {}", *path, count_hosts(found.all.size()))
                 : fmt::format("wrote {}: {} beside this machine, which is rank 0 with -i", *path,
                               count_hosts(found.all.size() - 1));
}

}  // namespace podrun
