// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace podrun::transfer {

enum class Kind : std::uint8_t { file, directory, link };

/// Tells a file from another one that has taken its name. All 0: not known.
struct Identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint32_t owner = 0;

  friend bool operator==(const Identity&, const Identity&) = default;
};

/// One path of a tree that is copied.
struct Entry {
  std::string path;  ///< below the target, without a leading "/"; empty: the target itself
  std::string link_target = {};
  std::uint64_t size = 0;    ///< of a file, in bytes
  std::int64_t mtime = 0;    ///< seconds since 1970
  std::uint32_t mode = 0;    ///< permission bits, 07777; 0 for a link
  std::uint32_t source = 0;  ///< index of the word of the command line that it comes from
  Kind kind = Kind::file;
  Identity identity = {};  ///< of a file

  friend bool operator==(const Entry&, const Entry&) = default;
};

struct Listing;

/// The files that `podrun push SRC...` copies.
struct TreeRequest {
  std::vector<std::string> sources = {};   ///< by rsync's rule: `dir/` is the contents of dir, `dir` itself
  std::vector<std::string> excludes = {};  ///< patterns of gitignore(5), from each source
  bool ignore = true;                      ///< obey .gitignore and .podrunignore, skip .git
  std::string home = {};                   ///< the user's home directory, for LocalTree::home()
  bool skyignore = false;                  ///< a .skyignore at the top of a source replaces .gitignore
};

/// A local path that a word of the command line names.
struct LocalSource {
  std::string local = {};   ///< a local path; a directory's ends with "/"
  std::string prefix = {};  ///< the paths of a directory's contents begin with it; empty or ends with "/"

  bool is_directory() const { return local.ends_with('/'); }
};

/// Where a word of the command line leads. Throws UsageError if it is missing or cannot be copied.
LocalSource find_source(const std::string& word);

/// The files of a push, read once. Memory: about 200 bytes for each entry, and its path.
class LocalTree {
 public:
  /// Throws UsageError: a missing source, two sources with one name, a file that cannot be read.
  static LocalTree read(const TreeRequest& request);
  /// The files that a host has listed, with Links::listed: it is there that they can be opened.
  static LocalTree listed(const Listing& listing);
  /// The same single file under another name.
  LocalTree renamed(const std::string& name) const;

  /// Sorted by the bytes of their paths, so a directory comes before its contents; no path twice.
  const std::vector<Entry>& entries() const { return entries_; }
  /// The index of the entry with this path.
  std::optional<std::size_t> find(std::string_view path) const;
  /// Where an entry can be opened.
  std::string local_path(const Entry& entry) const;
  /// The paths that ignore rules left out; of a directory that is left out as a whole only its own, with `/`.
  const std::vector<std::string>& ignored() const { return ignored_; }
  const std::vector<LocalSource>& sources() const { return sources_; }
  /// The local path of the user's home directory, with a "/" at its end, if it is in a source; else empty.
  const std::string& home() const { return home_; }
  /// Sockets, devices and FIFOs, which are not copied: their local paths.
  const std::vector<std::string>& special() const { return special_; }

 private:
  class Walk;

  /// Adds a source that is a file or link.
  void add_file(const LocalSource& source, const std::string& name, std::uint32_t index);
  void sort();

  std::vector<LocalSource> sources_;
  std::vector<Entry> entries_;
  std::vector<std::string> special_;
  std::vector<std::string> ignored_;
  std::string home_;
};

}  // namespace podrun::transfer
