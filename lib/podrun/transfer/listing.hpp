// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/transfer/remote_paths.hpp"
#include "podrun/transfer/tree_entry.hpp"

// Reads the reply of pull_list.sh: the paths of a host that a pull copies. Pure. Throws HostError for
// anything else, since a host may send anything.
namespace podrun::transfer {

/// One path that a pull copies.
struct ListedPath {
  static constexpr std::uint32_t kNoList = 0;
  std::string host_path;         ///< `./a/b` from the home directory, or absolute
  std::size_t local_at = 0;      ///< offset in host_path where path() begins
  std::string link_target = {};  ///< with Links::listed
  std::uint32_t mode = 0;        ///< permission bits, 07777
  std::uint32_t list = kNoList;  ///< the number of the list of find that has it, unless it is a match itself
  std::uint64_t size = 0;        ///< bytes
  std::int64_t mtime = 0;        ///< seconds since 1970
  Kind kind = Kind::file;
  Identity identity = {};

  /// The path below the host's directory here; see goes_down().
  std::string_view path() const { return std::string_view(host_path).substr(local_at); }
};

/// Whether the host also lists where links lead, and a directory whose contents are named: `dir/`.
enum class Links { not_listed, listed };

struct Listing {
  std::vector<ListedPath> paths = {};     ///< each directory directly before its contents; no path twice
  std::vector<std::size_t> missing = {};  ///< indices of words that name nothing
  std::size_t special = 0;                ///< sockets, devices and FIFOs, which are not copied
  bool has_errors = false;                ///< the host could not list everything
  bool has_not_looked = false;            ///< find or stat did not run there
  bool has_home = false;                  ///< the user's home directory is in it; only with Links::listed
  bool is_shared = false;  ///< other users may exchange what the paths name; only with Links::not_listed
};

/// A word of the command line in the form of pull_list.sh: `a//b/.` is `./a/b/`, `~/a` is `./a`, `..` is
/// `./../`. As with rsync, `dir/` means the contents of dir. Throws UsageError for an empty word.
std::string pull_word(std::string_view word);

/// A remark to add to an error of a host's program that names a path with U+FFFD: some findutils print that
/// for bytes that are not UTF-8. Empty for other errors.
std::string_view doubt_of_name(std::string_view error);

/// Reads the reply, in pieces of any size.
class ListingReader {
 public:
  /// `words`: the number of words that the host was asked for.
  explicit ListingReader(std::size_t words, PathBudget budget = PathBudget(PathBudget::kUsualPaths),
                         Links links = Links::not_listed)
      : words_(words), links_(links), match_budget_(budget), path_budget_(budget) {}

  void feed(std::string_view bytes);
  bool is_complete() const { return complete_; }
  /// The listing, after its end. Also throws if two paths of the host would have one name here, or it is not
  /// known where a link leads. May be slow.
  Listing take();

 private:
  void take_record(std::string_view record);
  void take_match(std::string_view path);
  void take_path(std::string_view rest, std::uint32_t st_mode);
  void take_link(std::string_view record);
  void take_user(std::string_view text);
  void take_directory(std::uint32_t st_mode, std::uint32_t owner, std::uint32_t group);
  void find_match(std::string_view path, std::uint32_t st_mode);

  const std::size_t words_;
  const Links links_;
  PathBudget match_budget_;
  PathBudget path_budget_;
  std::string held_;          ///< the beginning of a record
  std::size_t searched_ = 0;  ///< this much of it contains no end
  std::vector<std::string> matches_;
  std::size_t match_ = static_cast<std::size_t>(-1);  ///< whose paths are arriving; none yet
  bool has_contents_ = false;                         ///< it is a directory
  bool passed_next_ = false;                          ///< the next match was listed as a part of it
  std::uint32_t lists_ = 0;                           ///< of find, so far
  Listing listing_;
  std::optional<std::uint32_t> user_;  ///< of the host
  std::uint32_t user_group_ = 0;
  std::map<std::string, std::string, std::less<>> targets_;  ///< of links, by host_path
  bool complete_ = false;
};

}  // namespace podrun::transfer
