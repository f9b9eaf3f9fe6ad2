// SPDX-License-Identifier: Apache-2.0
// The parts of this machine that ssh_config(5) needs: files with their owners, globs, users.
#include "podrun/ssh/config/ssh_config_world.hpp"

#include <glob.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"

namespace podrun::ssh {
namespace {

constexpr std::size_t kMaxFileSize = 16 * 1024 * 1024;

[[noreturn]] void cannot_read(const std::string& path, int error) {
  throw UsageError(fmt::format("cannot read {:?}: {}", path, std::generic_category().message(error)));
}

void check_trust(const std::string& path, const struct stat& status) {
  const bool owned = status.st_uid == 0 || status.st_uid == ::getuid();
  const bool closed = (status.st_mode & S_IWOTH) == 0 &&
                      ((status.st_mode & S_IWGRP) == 0 || is_private_group(status.st_gid, status.st_uid));
  if (owned && closed) return;
  throw UsageError(fmt::format(
      "bad owner or permissions of {:?} (it must be {})", path,
      owned ? fmt::format("writable by its owner alone: chmod go-w {}", path) : "yours or root's"));
}

std::optional<std::string> read_file(const std::string& path, FileTrust trust) {
  check_current_directory(fmt::format("cannot read {:?}", path), path);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
  if (!file && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  struct stat status {};
  if (!file || ::fstat(::fileno(file.get()), &status) != 0) cannot_read(path, errno);
  if (trust == FileTrust::checked) check_trust(path, status);
  if (S_ISDIR(status.st_mode)) return "";
  std::optional<std::string> text = read_whole(::fileno(file.get()), kMaxFileSize);
  if (!text) cannot_read(path, errno);
  return text;
}

std::vector<std::string> glob_files(const std::string& pattern) {
  glob_t found{};
  const std::unique_ptr<glob_t, void (*)(glob_t*)> owner(&found, ::globfree);
  const int result = ::glob(pattern.c_str(), 0, nullptr, &found);
  if (result != 0 && result != GLOB_NOMATCH)
    throw UsageError(fmt::format("cannot search for {:?} (expected a pattern of files)", pattern));
  return {found.gl_pathv, found.gl_pathv + found.gl_pathc};
}

}  // namespace

ConfigWorld system_config_world(std::string home, std::string user) {
  ConfigWorld world;
  world.home = std::move(home);
  world.user = std::move(user);
  world.user_id = std::to_string(::getuid());
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0) world.host_name = name.data();
  world.home_of = [](const std::string& of) {
    const passwd* const entry = ::getpwnam(of.c_str());
    return entry ? std::optional<std::string>(entry->pw_dir) : std::nullopt;
  };
  world.read = read_file;
  world.glob = glob_files;
  return world;
}

}  // namespace podrun::ssh
