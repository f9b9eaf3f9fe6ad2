// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "podrun/transfer/git.hpp"
#include "podrun/transfer/tree_entry.hpp"

namespace podrun::transfer {

/// A name in a directory, as readdir(3) returns it.
struct ListedName {
  std::string name;
  unsigned char type = 0;  ///< DT_DIR, DT_REG, …
  bool is_here = true;     ///< false: only a host has it
};

/// Decides which paths below a source are ignored. Rules are tried in this order, and the first one with a
/// pattern for the path decides: --exclude, .podrunignore files, git's own rules (not for tracked paths) or a
/// .skyignore in their place.
/// Each repository below the source has its own rules. git(1) does all matching; see gitignore(5).
class IgnoreRules {
 public:
  /// `local`: the source, ends with "/". Throws UsageError, as everything here does where git fails.
  IgnoreRules(std::string local, const TreeRequest& request);
  IgnoreRules(const IgnoreRules&) = delete;
  IgnoreRules& operator=(const IgnoreRules&) = delete;
  ~IgnoreRules();

  /// Goes down to a directory; first to the source, without a name. `directory`: open, or -1 if not here.
  void enter(const std::string& name, int directory);
  void leave();
  /// Which names in the current directory are ignored. With TreeRequest::ignore, `.git` and what other
  /// version controls keep are always ignored.
  std::vector<bool> ignored(const std::vector<ListedName>& names);

 private:
  class CopiedRules;
  /// A work tree; without `check`, a directory that git ignores and a higher rule brings back.
  struct Repository {
    std::unique_ptr<PathCheck> check = {};
    std::size_t base = 0;                   ///< the size of its path below the source
    std::vector<std::string> tracked = {};  ///< and also ignored; sorted, from its directory or the source
  };
  struct Level {
    std::size_t path_size = 0;  ///< of the directory above
    bool is_repository = false;
    bool has_gitignore = false;  ///< outside of repositories, where it counts
    bool has_podrunignore = false;
    std::vector<std::string> brought_back = {};  ///< directories in it, against git's rules
  };

  bool enter_repository();
  bool enter_brought_back(const std::string& name);
  bool enter_gitignore(int directory);
  bool enter_podrunignore(int directory);
  void enter_skyignore(int directory);
  void add_git_rules(std::vector<Match>& matches, const std::vector<ListedName>& names);
  const TempRepository& temporary();

  std::string local_;
  bool obeys_;
  bool takes_skyignore_;
  std::string path_;  ///< of the current directory below the source; empty or ends with "/"
  std::vector<Level> levels_;
  std::vector<Repository> repositories_;  ///< around the current directory; only the last one counts
  std::size_t gitignores_ = 0;            ///< levels that have one
  std::size_t podrunignores_ = 0;
  std::unique_ptr<TempRepository> temporary_;
  std::unique_ptr<PathCheck> outside_;  ///< for .gitignore outside of repositories
  std::unique_ptr<CopiedRules> podrunignore_;
  std::unique_ptr<CopiedRules> skyignore_;  ///< instead of git's rules
  std::unique_ptr<CopiedRules> excludes_;
};

}  // namespace podrun::transfer
