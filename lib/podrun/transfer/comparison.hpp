// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podrun/transfer/local_tree.hpp"
#include "podrun/transfer/remote_paths.hpp"
#include "podrun/transfer/scan_reply.hpp"

// Finds what a host must get so that it has the local tree. Pure.
namespace podrun::transfer {

enum class Compare : std::uint8_t { size_and_time, contents };
enum class Delete : std::uint8_t { no, yes };

/// The state of a path of the local tree on a host.
struct PathState {
  bool present : 1 = false;
  bool same_kind : 1 = false;
  bool is_directory : 1 = false;  ///< on the host
  bool differs : 1 = false;       ///< its contents, or where a link leads
  bool mode_differs : 1 = false;
  bool time_differs : 1 = false;
  bool is_own_target : 1 = false;    ///< a link to itself, which busybox mv does not replace
  bool lacks_access : 1 = false;     ///< a directory on the host that its owner may not change
  bool is_link : 1 = false;          ///< on the host
  bool is_kept : 1 = false;          ///< a link to a directory, in the place of a directory of the tree
  bool leads_elsewhere : 1 = false;  ///< a kept link, to another file system than the target
};

/// A path that only the host has.
struct HostOnly {
  std::string path;
  bool is_directory = false;
};

/// Directories that are moved or deleted as a whole.
class Directories {
 public:
  void add(std::string path) { paths_.insert(std::move(path)); }
  /// True if the path is below one of them.
  bool contain(std::string_view path) const;

 private:
  std::set<std::string, std::less<>> paths_;
};

/// Compares what a host has, path by path in any order. Memory: two bytes for each path of the local tree,
/// and with Delete::yes the paths that only the host has, up to `budget`.
class Comparison {
 public:
  Comparison(const LocalTree& tree, Compare compare, Delete remove,
             PathBudget budget = PathBudget(PathBudget::kUsualPaths));

  /// Throws HostError when the budget is used up.
  void add(const HostEntry& entry);
  /// Compares a path behind a kept link. Paths there that only the host has are ignored.
  void add_behind_link(const HostEntry& entry);
  /// The entries for directories where the host has links, each once.
  std::vector<std::size_t> take_links() { return std::exchange(links_, {}); }
  /// Keeps such a link, which leads to a directory.
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

/// The changes that one host gets.
struct Transfer {
  std::vector<std::size_t> chosen;          ///< entries for the archive, ascending
  std::vector<PathState> states;            ///< of all entries
  std::vector<HostOnly> deleted;            ///< sorted; a directory stands for everything in it
  std::vector<std::size_t> replaced_links;  ///< entries for directories that replace links
  std::string elsewhere;        ///< a kept link to another file system where something changes; empty: none
  std::size_t files = 0;        ///< files and links among the chosen
  std::uint64_t bytes = 0;      ///< of the files
  bool has_attributes = false;  ///< sets a mode or a directory's time where nothing is sent
  bool is_empty() const { return chosen.empty() && deleted.empty() && !has_attributes; }
};

/// `to_delete`, `kept`: the paths that only the host has, sorted.
Transfer make_transfer(const LocalTree& tree, std::vector<PathState> states, std::vector<HostOnly> to_delete,
                       const std::vector<HostOnly>& kept);

/// The text of podrun.check (push.sh): calls podrun_need_writable for the directories that are changed.
std::string check_text(const LocalTree& tree, const Transfer& transfer);

enum class Target : std::uint8_t { present, missing };

/// The text of podrun.switch: moves the contents of `new` in the staging directory to the target, each file
/// by rename(2), deletes, and sets modes and times. Creates a missing target. Reads podrun.staging and
/// podrun.target beside it, see push.sh. Exits with 1 if a step failed, after all the others.
std::string switch_text(const LocalTree& tree, const Transfer& transfer, Target target);

}  // namespace podrun::transfer
