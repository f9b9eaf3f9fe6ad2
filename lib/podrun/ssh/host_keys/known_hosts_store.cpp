// SPDX-License-Identifier: Apache-2.0
// Reads and changes known_hosts files, which other programs may change at the same time.
#include "podrun/ssh/host_keys/known_hosts_store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/descriptor.hpp"
#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/base/text.hpp"
#include "podrun/ssh/host_keys/known_hosts.hpp"

namespace podrun::ssh {
namespace {

constexpr auto kLockPatience = std::chrono::milliseconds(200);

/// False if another program holds the lock for too long. True if the file system has no locks.
bool lock(int descriptor) {
  const auto end = std::chrono::steady_clock::now() + kLockPatience;
  while (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return true;
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

bool ends_within_a_line(int descriptor) {
  struct stat status {};
  char last = '\n';
  return ::fstat(descriptor, &status) == 0 && status.st_size > 0 &&
         ::pread(descriptor, &last, 1, status.st_size - 1) == 1 && last != '\n';
}

/// Whether the file still has this name: another podrun may have put a new one in its place.
bool is_at(int descriptor, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(descriptor, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/// Writes in one call, because other programs append to the same file. Returns the error, or nothing.
std::string write_once(int descriptor, std::string_view text) {
  const ssize_t written = ::write(descriptor, text.data(), text.size());
  if (written < 0) return errno_text();
  return static_cast<std::size_t>(written) == text.size() ? "" : "no space left";
}

/// Writes a new file with the mode and owner of the old one, then renames it. Returns the error, or nothing.
std::string replace_it(const std::string& path, std::string_view text) {
  std::error_code error;
  const std::string target = std::filesystem::canonical(path, error);  // a link stays one
  if (error) return error.message();
  std::string name = target + ".XXXXXX";
  const Descriptor file(::mkostemp(name.data(), O_CLOEXEC));
  struct stat status {};
  if (file.get() < 0 || ::stat(target.c_str(), &status) != 0) return errno_text();
  std::string what = write_once(file.get(), text);
  const bool ready = what.empty() && ::fchown(file.get(), status.st_uid, status.st_gid) == 0 &&
                     ::fchmod(file.get(), status.st_mode & 07777) == 0 && ::fsync(file.get()) == 0 &&
                     std::rename(name.c_str(), target.c_str()) == 0;
  if (!ready && what.empty()) what = errno_text();
  if (!ready) ::unlink(name.c_str());
  return what;
}

/// Reads until the last line has its end, or nothing comes for a while: a line that another program writes
/// can be seen in part.
template <typename Read>
std::string read_whole_lines(const Read& read) {
  constexpr int kLooks = 20;
  std::string text = read();
  for (int unchanged = 0; !text.empty() && text.back() != '\n' && unchanged < kLooks;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::string again = read();
    unchanged = again == text ? unchanged + 1 : 0;
    text = std::move(again);
  }
  return text;
}

/// Copies lines that others appended to the old file after `read` bytes of it were read.
std::string append_what_came_late(const std::string& path, int old, std::size_t read) {
  std::string error;
  const std::string late = read_whole_lines([&] {
    struct stat status {};
    if (::fstat(old, &status) != 0) error = errno_text();
    const auto size = static_cast<std::size_t>(status.st_size);
    std::string text(size - std::min(size, read), '\0');
    const ssize_t count = ::pread(old, text.data(), text.size(), static_cast<off_t>(read));
    if (count != static_cast<ssize_t>(text.size())) error = errno_text();
    return text;
  });
  return error.empty() && !late.empty() ? append_known_host(path, late) : error;
}

}  // namespace

std::string read_known_hosts(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open() && errno == ENOENT) return {};
  std::optional<std::string> text;
  if (file.is_open()) text = read_whole(file.get(), std::numeric_limits<std::size_t>::max());
  if (text) return *std::move(text);
  throw UsageError(
      fmt::format("cannot read {:?}: {} (it says which host keys are known)", path, errno_text()));
}

std::string append_known_host(const std::string& path, const std::string& line) {
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  if (!directory.empty()) ::mkdir(directory.c_str(), 0700);  // if it is missing
  constexpr int kTries = 1000;                               // some microseconds each
  for (int time = 0; time < kTries; ++time) {
    const Descriptor file(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600));
    if (file.get() < 0) return errno_text();
    const std::string newline = ends_within_a_line(file.get()) ? "\n" : "";
    const std::string error = write_once(file.get(), newline + line);
    // A program that replaces the file may have read it before; a line that is there twice does no harm.
    if (!error.empty() || is_at(file.get(), path)) return error;
  }
  return "other programs replace the file all the time";
}

std::size_t forget_host_keys(const std::string& path,
                             const std::vector<std::pair<std::string, std::uint16_t>>& hosts) {
  const Descriptor locked(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (locked.get() >= 0 && !lock(locked.get()))
    throw UsageError(fmt::format("cannot change {:?}: another program keeps it locked (try again)", path));
  const std::string text = read_whole_lines([&] { return read_known_hosts(path); });
  if (locked.get() >= 0 && !is_at(locked.get(), path))
    throw UsageError(fmt::format("cannot change {:?}: another program has just done so (try again)", path));
  const ForgottenKeys left = forget_keys(text, hosts);
  if (left.removed == 0) return 0;
  std::string error = replace_it(path, left.text);
  if (error.empty()) error = append_what_came_late(path, locked.get(), text.size());
  if (!error.empty()) throw UsageError(fmt::format("cannot change {:?}: {}", path, error));
  return left.removed;
}

}  // namespace podrun::ssh
