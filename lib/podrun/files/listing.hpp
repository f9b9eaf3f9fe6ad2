// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/files/local_tree.hpp"
#include "podrun/files/remote_paths.hpp"

// What a host has of the words of a pull: the reply of pull_list.sh. Pure. Throws HostError for anything
// else, since a host may send what it likes.
namespace podrun::files {

/// One path that a pull copies.
struct ListedPath {
  std::string host_path;     ///< `./a/b` from the home directory, or absolute
  std::size_t local_at = 0;  ///< offset in host_path where path() begins
  std::uint32_t mode = 0;    ///< permission bits, 07777
  std::uint64_t size = 0;    ///< bytes
  std::int64_t mtime = 0;    ///< seconds since 1970
  Kind kind = Kind::file;

  /// Below the host's directory here: not empty, relative, and without ".." and empty parts.
  std::string_view path() const { return std::string_view(host_path).substr(local_at); }
};

struct Listing {
  std::vector<ListedPath> paths = {};     ///< what is in a directory follows it directly; no path twice
  std::vector<std::size_t> missing = {};  ///< words that name nothing, by their places
  std::size_t special = 0;                ///< sockets, devices and FIFOs, which are not copied
  bool has_errors = false;                ///< the host could not look at all of it
  bool has_not_looked = false;            ///< a program that lists did not run there
};

/// A word of the command line as pull_list.sh wants it: `a//b/.` is `./a/b/`, `~/a` is `./a`, `..` is
/// `./../`. As with rsync, `dir/` is what is in dir. Throws UsageError for an empty word.
std::string pull_word(std::string_view word);

/// Reads the reply, in pieces of any size.
class ListingReader {
 public:
  /// `words`: how many the host was asked for.
  explicit ListingReader(std::size_t words, PathBudget budget = PathBudget(PathBudget::kUsualPaths))
      : words_(words), match_budget_(budget), path_budget_(budget) {}

  void feed(std::string_view bytes);
  bool is_complete() const { return complete_; }
  /// After the end. Also throws when several paths of the host would have one name here. Takes a while for
  /// many paths.
  Listing take();

 private:
  void take_record(std::string_view record);
  void take_match(std::string_view path);
  void take_path(std::string_view record);
  void find_match(std::string_view path);

  const std::size_t words_;
  PathBudget match_budget_;
  PathBudget path_budget_;
  std::string held_;          ///< the beginning of a record
  std::size_t searched_ = 0;  ///< so much of it has no end
  std::vector<std::string> matches_;
  std::size_t match_ = static_cast<std::size_t>(-1);  ///< the one whose paths are coming; none yet
  bool passed_next_ = false;                          ///< the one after it was listed, as a part of it
  Listing listing_;
  bool complete_ = false;
};

}  // namespace podrun::files
