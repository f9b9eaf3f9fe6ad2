// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podrun/files/local_tree.hpp"
#include "podrun/files/remote_paths.hpp"
#include "podrun/files/scan_reply.hpp"

// What a host must get so that it has the local tree. Pure.
namespace podrun::files {

enum class Compare : std::uint8_t { size_and_time, contents };
enum class Delete : std::uint8_t { no, yes };

/// How a path of the local tree stands on a host.
struct PathState {
  bool present : 1 = false;
  bool same_kind : 1 = false;
  bool is_directory : 1 = false;  ///< on the host
  bool differs : 1 = false;       ///< its contents, or where a link leads
  bool mode_differs : 1 = false;
  bool time_differs : 1 = false;
  bool is_own_target : 1 = false;    ///< a link to itself, which mv of busybox does not replace
  bool lacks_access : 1 = false;     ///< a directory on the host that its owner may not change
  bool is_link : 1 = false;          ///< on the host
  bool is_kept : 1 = false;          ///< a link to a directory, which stands for a directory of the tree
  bool leads_elsewhere : 1 = false;  ///< a kept link: to another file system than that of the target
};

/// A path that only the host has.
struct HostOnly {
  std::string path;
  bool is_directory = false;
};

/// Directories that are handled as a whole.
class Directories {
 public:
  void add(std::string path) { paths_.insert(std::move(path)); }
  /// Whether the path is below one of them.
  bool contain(std::string_view path) const;

 private:
  std::set<std::string, std::less<>> paths_;
};

/// Takes what a host has, path by path in any order. Memory: two bytes a path of the local tree, and the
/// paths that only the host has, with Delete::yes, up to `budget`.
class Comparison {
 public:
  Comparison(const LocalTree& tree, Compare compare, Delete remove,
             PathBudget budget = PathBudget(PathBudget::kUsualPaths));

  /// Throws HostError when the budget is used up.
  void take(const HostEntry& entry);
  /// The same for what is behind a kept link; what only the host has there counts for nothing.
  void take_behind_link(const HostEntry& entry);
  /// The entries for directories in whose place the host has links, each once.
  std::vector<std::size_t> take_links() { return std::exchange(links_, {}); }
  /// Such a link leads to a directory and stays.
  void keep_link(std::size_t index, bool leads_elsewhere);

  const std::vector<PathState>& states() const { return states_; }
  std::vector<PathState>& states() { return states_; }
  /// Sorted by path.
  std::vector<HostOnly> take_host_only();

 private:
  void compare(const HostEntry& host, std::size_t index);

  const LocalTree& tree_;
  Compare compare_;
  Delete delete_;
  PathBudget budget_;
  std::vector<PathState> states_;
  std::vector<HostOnly> host_only_;
  std::vector<std::size_t> links_;
};

/// What one host gets.
struct Transfer {
  std::vector<std::size_t> chosen;  ///< entries for the archive, ascending
  std::vector<PathState> states;    ///< of all entries
  std::vector<HostOnly> deleted;    ///< sorted; a directory that goes with all that is in it stands alone
  std::vector<std::size_t> replaced_links;  ///< entries for directories that replace links
  std::string elsewhere;  ///< a kept link to another file system behind which something changes; empty: none
  std::size_t files = 0;  ///< files and links among the chosen
  std::uint64_t bytes = 0;      ///< of the files
  bool has_attributes = false;  ///< a mode or a directory's time is to be set where nothing is sent
  bool is_empty() const { return chosen.empty() && deleted.empty() && !has_attributes; }
};

/// `to_delete`: what may be deleted of the paths that only the host has, sorted; `kept`: what stays, sorted.
Transfer make_transfer(const LocalTree& tree, std::vector<PathState> states, std::vector<HostOnly> to_delete,
                       const std::vector<HostOnly>& kept);

}  // namespace podrun::files
