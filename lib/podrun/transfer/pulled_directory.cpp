// SPDX-License-Identifier: Apache-2.0
// Writes the files of a pull. libarchive could extract them, but it changes the umask of the whole process
// for every path, and cannot rename a file at its end. So only its reader is used, and each directory on the
// way is opened here without following links.
#include "podrun/transfer/pulled_directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/supervisor/supervised.hpp"

namespace podrun::transfer {
namespace {

constexpr std::string_view kTemporary = ".podrun.";
constexpr std::size_t kIdSize = 32;  ///< of supervisor::random_id()
constexpr mode_t kPermissions = 0777;
constexpr int kDirectory = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

std::string_view parent(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash);
}

std::string last_part(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

/// Opens a directory; -1 with errno on failure. With Missing::make, anything else in its place is removed.
int open_directory(int at, const std::string& name, PulledDirectory::Missing missing) {
  const int found = ::openat(at, name.c_str(), kDirectory);
  if (found >= 0 || missing == PulledDirectory::Missing::leave) return found;
  if (errno == ENOTDIR || errno == ELOOP) {
    ::unlinkat(at, name.c_str(), 0);
  } else if (errno != ENOENT) {
    return -1;
  }
  if (::mkdirat(at, name.c_str(), kPermissions) != 0 && errno != EEXIST) return -1;
  return ::openat(at, name.c_str(), kDirectory);
}

std::array<timespec, 2> only_modified(std::int64_t mtime) {
  std::array<timespec, 2> times{};
  times[0].tv_nsec = UTIME_OMIT;
  times[1].tv_sec = mtime;
  return times;
}

bool is_temporary(std::string_view name) {
  return name.starts_with(kTemporary) && name.size() == kTemporary.size() + kIdSize &&
         name.find_first_not_of("0123456789abcdef", kTemporary.size()) == name.npos;
}

/// Removes a temporary file unless another pull writes it and so has it locked.
void remove_leftover(int at, const char* name) {
  const Descriptor file(::openat(at, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open()) return;
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink != 1) return;
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return;
  // Its pull may have renamed it meanwhile, and created the next one.
  struct stat named {};
  const bool is_same = ::fstatat(at, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                       named.st_dev == status.st_dev && named.st_ino == status.st_ino;
  if (is_same) ::unlinkat(at, name, 0);
}

}  // namespace

PulledDirectory::PulledDirectory(std::string path, Missing missing, std::string prefix)
    : path_(std::move(path)),
      prefix_(std::move(prefix)),
      temporary_(std::string(kTemporary) + supervisor::random_id()) {
  std::error_code error;
  if (missing == Missing::make) std::filesystem::create_directories(path_, error);
  if (!error) root_.reset(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!root_.is_open() && !error) error = {errno, std::generic_category()};
  if (!root_.is_open() && (missing == Missing::make || error != std::errc::no_such_file_or_directory)) {
    std::error_code ignored;
    const bool is_link = std::filesystem::is_symlink(path_, ignored);
    throw LocalWriteError(fmt::format(
        "{}: {}", path_,
        is_link ? "is a symbolic link, which a pull does not follow (remove it)" : error.message()));
  }
  if (missing == Missing::make) remove_leftovers();
}

void PulledDirectory::remove_leftovers() {
  const int copy = ::openat(root_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(copy), ::closedir);
  if (!entries) {
    ::close(copy);
    return;
  }
  while (const dirent* entry = ::readdir(entries.get())) {
    if (is_temporary(entry->d_name)) remove_leftover(root_.get(), entry->d_name);
  }
}

bool PulledDirectory::has(const ListedPath& path) {
  if (!root_.is_open()) return false;
  const int at = parent_of(name_of(path), Missing::leave);
  struct stat status {};
  if (at < 0 || ::fstatat(at, last_part(name_of(path)).c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    return false;
  const mode_t type = path.kind == Kind::link ? S_IFLNK : S_IFREG;
  return (status.st_mode & S_IFMT) == type && static_cast<std::uint64_t>(status.st_size) == path.size &&
         status.st_mtim.tv_sec == path.mtime;
}

void PulledDirectory::make_directory(const ListedPath& path) {
  const int at = parent_of(name_of(path), Missing::make);
  if (at < 0) fail(path);
  const std::string name = last_part(name_of(path));
  const mode_t mode = (path.mode & kPermissions) | S_IRWXU;  // so that files can be put into it
  if (::mkdirat(at, name.c_str(), mode) == 0) return;
  if (errno != EEXIST) fail(path);
  struct stat status {};
  if (::fstatat(at, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode)) return;
  if (::unlinkat(at, name.c_str(), 0) != 0 || ::mkdirat(at, name.c_str(), mode) != 0) fail(path);
}

/// Removes whatever has the name, except a directory that is not empty. False with errno on failure.
bool PulledDirectory::remove(int at, const std::string& name) {
  if (::unlinkat(at, name.c_str(), 0) == 0) return true;
  if (errno != EISDIR) return false;
  if (at == root_.get()) parent_.reset();  // it may be the directory that is removed
  return ::unlinkat(at, name.c_str(), AT_REMOVEDIR) == 0;
}

/// Makes a link under its own name, so a killed pull leaves no temporary one. False with errno on failure,
/// like `make_link`.
template <typename MakeLink>
bool PulledDirectory::make(std::string_view path, const MakeLink& make_link) {
  const int at = parent_of(path, Missing::make);
  const std::string name = last_part(path);
  if (at < 0) return false;
  return make_link(at, name.c_str()) || (errno == EEXIST && remove(at, name) && make_link(at, name.c_str()));
}

void PulledDirectory::put_link(const ListedPath& path, const std::string& target) {
  const bool is_made = make(name_of(path), [&](int at, const char* name) {
    if (::symlinkat(target.c_str(), at, name) != 0) return false;
    ::utimensat(at, name, only_modified(path.mtime).data(), AT_SYMLINK_NOFOLLOW);
    return true;
  });
  if (!is_made) fail(path);
}

void PulledDirectory::put_hard_link(const ListedPath& path, const ListedPath& existing) {
  const int found = parent_of(name_of(existing), Missing::leave);
  const Descriptor from(found < 0 ? -1 : ::fcntl(found, F_DUPFD_CLOEXEC, 0));
  const std::string existing_name = last_part(name_of(existing));
  const bool is_made = from.is_open() && make(name_of(path), [&](int at, const char* name) {
                         return ::linkat(from.get(), existing_name.c_str(), at, name, 0) == 0;
                       });
  if (!is_made) fail(path);
}

void PulledDirectory::set_time(const ListedPath& path) {
  const int at = parent_of(name_of(path), Missing::leave);
  const std::string name = last_part(name_of(path));
  if (at < 0 || ::utimensat(at, name.c_str(), only_modified(path.mtime).data(), AT_SYMLINK_NOFOLLOW) != 0)
    fail(path);
}

/// The directory of a path, open until the next call; -1 with errno on failure.
int PulledDirectory::parent_of(std::string_view path, Missing missing) {
  const std::string_view directory = parent(path);
  if (directory.empty()) return root_.get();
  if (parent_.is_open() && directory == parent_path_) return parent_.get();
  int at = root_.get();
  for (const std::string_view part : split(directory, '/')) {
    const int next = open_directory(at, std::string(part), missing);
    const int error = errno;
    parent_.reset(next);  // closes the one before
    errno = error;
    if (next < 0) return -1;
    at = next;
  }
  parent_path_ = directory;
  return at;
}

/// Renames the temporary file; removes it on failure. False with errno on failure.
bool PulledDirectory::put(std::string_view path) {
  const int at = parent_of(path, Missing::make);
  const std::string name = last_part(path);
  const auto rename = [&] { return ::renameat(root_.get(), temporary_.c_str(), at, name.c_str()) == 0; };
  if (at >= 0 && (rename() || (errno == EISDIR && remove(at, name) && rename()))) return true;
  const int error = errno;
  ::unlinkat(root_.get(), temporary_.c_str(), 0);
  errno = error;
  return false;
}

void PulledDirectory::fail(const ListedPath& path) const {
  const std::string why = errno_text();
  throw LocalWriteError(fmt::format("{}/{}: {}", path_, name_of(path), why));
}

/// The file has its mode on the host, minus the umask, but the user can always replace it. It is locked, so
/// that another pull does not mistake it for a leftover. If one removed it before that, it is created again.
PulledDirectory::NewFile::NewFile(PulledDirectory& directory, const ListedPath& path)
    : directory_(directory), path_(path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const mode_t mode = (path.mode & kPermissions) | S_IRUSR | S_IWUSR;
  struct stat status {};
  do {
    descriptor_.reset(::openat(directory.root_.get(), directory.temporary_.c_str(), kFlags, mode));
    if (!descriptor_.is_open()) directory_.fail(path);
    ::flock(descriptor_.get(), LOCK_EX);
  } while (::fstat(descriptor_.get(), &status) == 0 && status.st_nlink == 0);
}

PulledDirectory::NewFile::~NewFile() {
  if (!is_put_) ::unlinkat(directory_.root_.get(), directory_.temporary_.c_str(), 0);
}

void PulledDirectory::NewFile::write(std::uint64_t offset, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(descriptor_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) directory_.fail(path_);
    bytes.remove_prefix(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
}

void PulledDirectory::NewFile::finish(std::uint64_t size) {
  const bool is_whole = ::ftruncate(descriptor_.get(), static_cast<off_t>(size)) == 0 &&
                        ::futimens(descriptor_.get(), only_modified(path_.mtime).data()) == 0;
  // Some file systems report only at close(2) that they are full. A duplicate is closed, since the file must
  // stay locked until it has its name.
  if (!is_whole || ::close(::dup(descriptor_.get())) != 0) directory_.fail(path_);
  is_put_ = true;  // put() removes what it cannot rename
  if (!directory_.put(directory_.name_of(path_))) directory_.fail(path_);
}

}  // namespace podrun::transfer
