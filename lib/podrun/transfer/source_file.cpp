// SPDX-License-Identifier: Apache-2.0
// Opens a file of a push part by part, since other users may be able to change the directories above it.
#include "podrun/transfer/source_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include <fmt/format.h>

#include "podrun/base/file_system.hpp"
#include "podrun/base/text.hpp"

namespace podrun::transfer {
namespace {

[[noreturn]] void fail_to_read(const std::string& path) {
  throw LocalFileError(fmt::format("{}: cannot be read: {}", path, lower_first(errno_text())));
}

[[noreturn]] void fail_as_changed(const std::string& path) {
  throw LocalFileError(path + ": changed while it was being copied (run the command again)");
}

/// Opens a file of a source, which may itself be that file. Links are followed up to the source: below it
/// other users may put one in the place of a directory, to what they cannot read.
int open_below(const std::string& source, std::string_view rest) {
  constexpr int kFile = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  if (rest.empty()) return open_path(source, kFile);
  Descriptor directory(open_path(source, O_PATH | O_DIRECTORY));
  while (directory.is_open()) {
    const std::string name(take_part(rest, '/'));
    if (rest.empty()) return ::openat(directory.get(), name.c_str(), kFile);
    directory.reset(::openat(directory.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  return -1;
}

/// Such a file system may give a file another inode when the kernel has forgotten it.
bool is_on_fuse(int file) {
  constexpr auto kFuse = 0x65735546;  // statfs(2); older kernel headers have no name for it
  struct statfs status {};
  return ::fstatfs(file, &status) == 0 && status.f_type == kFuse;
}

}  // namespace

SourceFile::SourceFile(const LocalTree& tree, const Entry& entry)
    : path_(tree.local_path(entry)), size_(entry.size), mtime_(entry.mtime), identity_(entry.identity) {
  const std::string& source = tree.sources()[entry.source].local;
  const std::string_view path = path_;
  file_.reset(open_below(source, path.substr(path.starts_with(source) ? source.size() : 0)));
  if (!file_.is_open() && errno == ENOENT)
    throw LocalFileError(path_ + ": vanished while it was being copied (run the command again)");
  if (!file_.is_open() && (errno == ELOOP || errno == ENOTDIR)) fail_as_changed(path_);
  if (!file_.is_open()) fail_to_read(path_);
  check();
}

void SourceFile::read(std::uint64_t from, std::uint64_t to, std::string& bytes) const {
  std::size_t done = bytes.size();
  bytes.resize(done + (to - from));
  while (from < to) {
    const ssize_t count = ::pread(file_.get(), bytes.data() + done, to - from, static_cast<off_t>(from));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_to_read(path_);
    if (count == 0) fail_as_changed(path_);
    from += static_cast<std::uint64_t>(count);
    done += static_cast<std::size_t>(count);
  }
  if (to == size_) check();
}

void SourceFile::check() const {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) fail_to_read(path_);
  const bool is_same = S_ISREG(status.st_mode) && static_cast<std::uint64_t>(status.st_size) == size_ &&
                       status.st_mtim.tv_sec == mtime_ && status.st_dev == identity_.device &&
                       status.st_uid == identity_.owner;
  if (!is_same || (status.st_ino != identity_.inode && !is_on_fuse(file_.get()))) fail_as_changed(path_);
}

}  // namespace podrun::transfer
