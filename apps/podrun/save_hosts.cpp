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
#include "podrun/hosts/this_machine.hpp"
#include "podrun/output/file.hpp"

namespace podrun {
namespace {

[[noreturn]] void fail(const std::string& path) {
  throw UsageError(fmt::format("cannot write {:?}: {}", path, std::generic_category().message(errno)));
}

/// Where a symlink leads, so that it is not replaced itself.
std::string resolved(const std::string& path) {
  std::error_code error;
  const std::string target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target;
}

/// What the file leaves out or does not say: which of the hosts this machine is.
std::string describe_saved(const std::vector<Host>& all, bool has_all, const Probe& probe) {
  if (!has_all) return count_hosts(all.size() - 1) + " beside this machine, which is rank 0 with -i";
  const ThisMachine self(probe);
  const auto own = std::find_if(all.begin(), all.end(), [&self](const Host& host) { return self.is(host); });
  if (own == all.begin() || own == all.end()) return count_hosts(all.size());
  return fmt::format("{}; this machine is rank {}, with -i", count_hosts(all.size()), own - all.begin());
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
  if (text.empty()) throw UsageError("--save: there is no other host to write (name some with -H)");
  write_at_once(resolved(*path), text);
  const bool has_all =
      static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) >= found.all.size();
  return fmt::format("wrote {}: {}", *path, describe_saved(found.all, has_all, probe));
}

}  // namespace podrun
