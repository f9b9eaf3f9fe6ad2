// SPDX-License-Identifier: Apache-2.0
// Whole files, the current directory, and the owners of files.
#include "podrun/base/file_system.hpp"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include <climits>
#include <fmt/format.h>

#include "podrun/base/descriptor.hpp"
#include "podrun/base/error.hpp"

namespace podrun {
namespace {

bool set_owner_and_mode(int descriptor, const std::string& target) {
  struct stat status {};
  if (::stat(target.c_str(), &status) != 0) return errno == ENOENT && ::fchmod(descriptor, 0644) == 0;
  mode_t kept = 07777;
  if (::fchown(descriptor, status.st_uid, status.st_gid) != 0) {
    if (errno != EPERM) return false;
    kept = 01777;  // the new owner or group must not get set-id bits that were another's
  }
  return ::fchmod(descriptor, status.st_mode & kept) == 0;
}

}  // namespace

void make_private_directory(const std::filesystem::path& directory) {
  std::error_code ignored;
  if (std::filesystem::create_directories(directory, ignored))
    std::filesystem::permissions(directory, std::filesystem::perms::owner_all, ignored);
}

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

std::optional<std::string> read_whole(int descriptor, std::size_t limit) {
  std::string text;
  std::array<char, 16 * 1024> block;
  for (;;) {
    const ssize_t count = ::read(descriptor, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(count));
    if (text.size() <= limit) continue;
    errno = EFBIG;
    return std::nullopt;
  }
}

bool write_whole(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool replace_file(const std::string& path, std::string_view text) {
  std::error_code error;
  std::string target = std::filesystem::weakly_canonical(path, error);
  if (error) target = path;
  std::string name = target + ".XXXXXX";
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) return false;
  bool done =
      write_whole(descriptor, text) && set_owner_and_mode(descriptor, target) && ::fsync(descriptor) == 0;
  int failure = errno;
  ::close(descriptor);
  if (done && std::rename(name.c_str(), target.c_str()) == 0) return true;
  if (done) failure = errno;
  ::unlink(name.c_str());
  errno = failure;
  return false;
}

std::filesystem::path current_directory(std::string_view where) {
  std::error_code error;
  std::filesystem::path directory = std::filesystem::current_path(error);
  if (error)
    throw UsageError(fmt::format("{}: the current directory is gone (change to one that exists)", where));
  return directory;
}

void check_current_directory(std::string_view where, std::string_view path) {
  if (!path.starts_with('/')) current_directory(where);
}

bool is_private_group(gid_t group, uid_t user) {
  std::array<char, 16 * 1024> user_text;
  std::array<char, 16 * 1024> group_text;
  passwd account{};
  passwd* found_user = nullptr;
  struct group entry {};
  struct group* found_group = nullptr;
  if (::getpwuid_r(user, &account, user_text.data(), user_text.size(), &found_user) != 0 || !found_user)
    return false;
  if (::getgrgid_r(group, &entry, group_text.data(), group_text.size(), &found_group) != 0 || !found_group)
    return false;
  const std::string_view name = account.pw_name;
  if (account.pw_gid != group || name != entry.gr_name) return false;
  for (char** member = entry.gr_mem; *member; ++member) {
    if (name != *member) return false;
  }
  return true;
}

int open_path(std::string_view path, int flags) {
  Descriptor above;
  int from = AT_FDCWD;
  while (path.size() >= PATH_MAX) {
    const std::size_t end = path.rfind('/', PATH_MAX - 2);
    if (end == std::string_view::npos || end == 0) {
      errno = ENAMETOOLONG;
      return -1;
    }
    from = ::openat(from, std::string(path.substr(0, end)).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    above.reset(from);
    if (from < 0) return -1;
    path.remove_prefix(end);
    while (path.starts_with('/')) path.remove_prefix(1);
  }
  return ::openat(from, std::string(path).c_str(), flags | O_CLOEXEC);
}

}  // namespace podrun
