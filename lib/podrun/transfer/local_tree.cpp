// SPDX-License-Identifier: Apache-2.0
// Reads the sources from the top down, merges them in order, and refuses two things with one name. Each
// directory is opened from the one above it and left by "..", so that neither the length of a path nor the
// number of open files limits how deep a tree may be.
#include "podrun/transfer/local_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/descriptor.hpp"
#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/base/text.hpp"
#include "podrun/transfer/ignore_rules.hpp"

namespace podrun::transfer {
namespace {

constexpr std::uint32_t kAllModeBits = 07777;

[[noreturn]] void fail(const std::string& path) {
  throw UsageError(fmt::format("push: {}: {}", path, lower_first(errno_text())));
}

[[noreturn]] void fail_as_changed(const std::string& path) {
  throw UsageError(fmt::format("push: {}: changed while it was read (run the command again)", path));
}

/// True if a file can be opened. The permission of its owner needs no system call.
bool can_read(int directory, const char* name, const struct stat& status) {
  if ((status.st_mode & S_IRUSR) != 0 && status.st_uid == ::geteuid()) return true;
  return ::faccessat(directory, name, R_OK, AT_EACCESS) == 0;
}

enum class Seen : std::uint8_t { copied, directory, special, gone, unreadable };

/// Fills in the entry of a file or link, without its path; errno says why it is unreadable.
Seen see(int directory, const char* name, Entry& entry) {
  struct stat status {};
  if (::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
    return errno == ENOENT ? Seen::gone : Seen::unreadable;
  if (S_ISDIR(status.st_mode)) return Seen::directory;
  entry.mtime = status.st_mtim.tv_sec;
  if (S_ISREG(status.st_mode)) {
    entry.kind = Kind::file;
    entry.size = static_cast<std::uint64_t>(status.st_size);
    entry.mode = status.st_mode & kAllModeBits;
    entry.identity = {.device = status.st_dev, .inode = status.st_ino, .owner = status.st_uid};
    return can_read(directory, name, status) ? Seen::copied : Seen::unreadable;
  }
  if (!S_ISLNK(status.st_mode)) return Seen::special;
  entry.kind = Kind::link;
  std::array<char, PATH_MAX> target;
  const ssize_t size = ::readlinkat(directory, name, target.data(), target.size());
  if (size < 0) return errno == ENOENT ? Seen::gone : Seen::unreadable;
  entry.link_target.assign(target.data(), static_cast<std::size_t>(size));
  return Seen::copied;
}

/// Lists the names in an open directory. False with errno if it cannot be read.
bool list(int directory, std::vector<ListedName>& names) {
  const int copy = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(copy < 0 ? nullptr : ::fdopendir(copy), ::closedir);
  if (!listing) return false;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(listing.get());
    if (!entry) return errno == 0;
    const std::string_view name(entry->d_name);
    if (name == "." || name == "..") continue;
    unsigned char type = entry->d_type;
    struct stat status {};
    if (type == DT_UNKNOWN && ::fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0)
      type = static_cast<unsigned char>(IFTODT(status.st_mode));
    names.push_back({std::string(name), type});
  }
}

/// True for `dir/`, `dir/.`, `.` and the like, which stand for the contents of a directory.
bool names_contents(std::string_view word) {
  const std::string_view last = word.substr(word.rfind('/') + 1);
  return last.empty() || last == "." || last == "..";
}

std::string without_last_slash(std::string path) {
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

/// Adds a source directory and all that the rules leave in it, links not followed. A directory whose contents
/// are all ignored is ignored too. Has two files open, however deep it goes. Throws UsageError.
class LocalTree::Walk {
 public:
  Walk(const LocalSource& source, std::uint32_t index, IgnoreRules& rules, const std::string& home,
       LocalTree& tree)
      : source_(source), index_(index), rules_(rules), tree_(tree) {
    if (home.empty() || ::stat(home.c_str(), &home_) != 0) home_ = {};
  }

  void run() {
    open_source();
    enter("");
    while (!levels_.empty()) {
      std::vector<std::string>& below = levels_.back().directories;
      if (below.empty()) {
        leave();
        continue;
      }
      const std::string name = std::move(below.back());
      below.pop_back();
      go_down(name);
    }
  }

 private:
  struct Level {
    std::size_t path_size = 0;    ///< of the directory above
    std::size_t first_entry = 0;  ///< in it
    std::size_t ignored = 0;      ///< before it was read
    bool leaves_out = false;      ///< it has something that is ignored
    dev_t device = 0;
    ino_t inode = 0;
    std::vector<std::string> directories = {};  ///< still to be read
  };

  std::string local(const std::string& name) const { return source_.local + path_ + name; }

  /// Does not follow a link that has taken the place of `dir`; `dir/` may be one.
  void open_source() {
    const bool may_be_link = source_.prefix.empty();
    const std::string path = may_be_link ? source_.local : without_last_slash(source_.local);
    directory_.reset(open_path(path, O_RDONLY | O_DIRECTORY | (may_be_link ? 0 : O_NOFOLLOW)));
    if (directory_.is_open()) return;
    if (!may_be_link && (errno == ENOTDIR || errno == ELOOP)) fail_as_changed(path);
    fail(source_.local);
  }

  void go_down(const std::string& name) {
    const int below =
        ::openat(directory_.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below < 0 && errno == ENOENT) return;
    if (below < 0 && (errno == ENOTDIR || errno == ELOOP)) fail_as_changed(local(name));
    if (below < 0) fail(local(name));
    directory_.reset(below);
    enter(name);
  }

  void enter(const std::string& name) {
    Level level{.path_size = path_.size(), .ignored = tree_.ignored_.size()};
    if (!levels_.empty()) path_ += name + '/';
    struct stat status {};
    if (::fstat(directory_.get(), &status) != 0) fail(local(""));
    level.device = status.st_dev;
    level.inode = status.st_ino;
    if (status.st_dev == home_.st_dev && status.st_ino == home_.st_ino) tree_.home_ = local("");
    Entry itself{.path = source_.prefix + path_,
                 .mtime = status.st_mtim.tv_sec,
                 .mode = status.st_mode & kAllModeBits,
                 .source = index_,
                 .kind = Kind::directory};
    if (!itself.path.empty()) itself.path.pop_back();
    tree_.entries_.push_back(std::move(itself));
    level.first_entry = tree_.entries_.size();
    take_names(name, level);
    levels_.push_back(std::move(level));
  }

  void take_names(const std::string& name, Level& level) {
    std::vector<ListedName> names;
    if (!list(directory_.get(), names)) fail(local(""));
    rules_.enter(name, directory_.get());
    const std::vector<bool> ignored = rules_.ignored(names);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!ignored[i]) {
        take(std::move(names[i].name), level);
      } else if (names[i].name != ".git") {
        tree_.ignored_.push_back(source_.prefix + path_ + names[i].name);
        level.leaves_out = true;
      }
    }
  }

  void take(std::string name, Level& level) {
    Entry entry{.path = {}, .source = index_};
    switch (see(directory_.get(), name.c_str(), entry)) {
      case Seen::copied:
        entry.path = source_.prefix + path_ + name;
        tree_.entries_.push_back(std::move(entry));
        break;
      case Seen::directory:
        level.directories.push_back(std::move(name));
        break;
      case Seen::special:
        tree_.special_.push_back(local(name));
        break;
      case Seen::unreadable:
        fail(local(name));
      case Seen::gone:
        break;
    }
  }

  void leave() {
    rules_.leave();
    const Level level = std::move(levels_.back());
    levels_.pop_back();
    if (levels_.empty()) return;
    Level& above = levels_.back();
    if (level.leaves_out && tree_.entries_.size() == level.first_entry) {
      tree_.entries_.pop_back();
      tree_.ignored_.resize(level.ignored);
      tree_.ignored_.push_back(source_.prefix + path_);
      above.leaves_out = true;
    }
    const int up = ::openat(directory_.get(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (up < 0) fail(local(".."));
    directory_.reset(up);
    path_.resize(level.path_size);
    struct stat status {};
    if (::fstat(up, &status) != 0) fail(local(""));
    if (status.st_dev != above.device || status.st_ino != above.inode) fail_as_changed(local(""));
  }

  const LocalSource& source_;
  std::uint32_t index_;
  IgnoreRules& rules_;
  LocalTree& tree_;
  struct stat home_ {};   ///< of the user's home directory, however its path is written
  Descriptor directory_;  ///< the current one
  std::string path_;      ///< its path below the source; empty or ends with "/"
  std::vector<Level> levels_;
};

LocalTree LocalTree::read(const TreeRequest& request) {
  LocalTree tree;
  for (const std::string& word : request.sources) {
    const auto index = static_cast<std::uint32_t>(tree.sources_.size());
    const LocalSource source = find_source(word);
    if (source.is_directory()) {
      IgnoreRules rules(source.local, request);
      Walk(source, index, rules, request.home, tree).run();
    } else {
      tree.add_file(source, word.substr(word.rfind('/') + 1), index);
    }
    tree.sources_.push_back(source);
  }
  tree.sort();
  return tree;
}

void LocalTree::add_file(const LocalSource& source, const std::string& name, std::uint32_t index) {
  Entry entry{.path = name, .source = index};
  const Seen seen = see(AT_FDCWD, source.local.c_str(), entry);
  if (seen == Seen::gone || seen == Seen::unreadable) fail(source.local);
  if (seen != Seen::copied) fail_as_changed(source.local);
  entries_.push_back(std::move(entry));
}

void LocalTree::sort() {
  std::ranges::sort(entries_, {}, [](const Entry& entry) { return std::tie(entry.path, entry.source); });
  const auto stands_for = [this](const Entry& first, const Entry& next) {
    if (first.path != next.path) return false;
    const bool are_directories = first.kind == Kind::directory && next.kind == Kind::directory;
    if (are_directories || local_path(first) == local_path(next)) return true;
    throw UsageError(fmt::format("push: {:?} and {:?} would both become {:?} on the hosts",
                                 without_last_slash(local_path(first)), without_last_slash(local_path(next)),
                                 first.path));
  };
  entries_.erase(std::unique(entries_.begin(), entries_.end(), stands_for), entries_.end());
}

LocalSource find_source(const std::string& word) {
  if (word.empty()) throw UsageError("push: \"\": no such file or directory");
  check_current_directory(fmt::format("push: {}", word), word);
  struct stat status {};
  if (names_contents(word)) {
    const std::string local = word.ends_with('/') ? word : word + '/';
    if (::stat(local.c_str(), &status) != 0) fail(word);
    return {.local = local};
  }
  if (::lstat(word.c_str(), &status) != 0) fail(word);
  const std::string name = word.substr(word.rfind('/') + 1);
  if (S_ISDIR(status.st_mode)) return {.local = word + '/', .prefix = name + '/'};
  if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode))
    throw UsageError(fmt::format("push: {}: neither a file nor a directory nor a symbolic link", word));
  return {.local = word};
}

}  // namespace podrun::transfer
