// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace podrun::transfer {

enum class Kind : std::uint8_t { file, directory, link };

/// The mode that lets its owner work in a directory.
inline constexpr std::uint32_t kOwnerAccess = 0700;

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

/// The files that `podrun push SRC...` copies.
struct TreeRequest {
  std::vector<std::string> sources = {};   ///< by rsync's rule: `dir/` is the contents of dir, `dir` itself
  std::vector<std::string> excludes = {};  ///< patterns of gitignore(5), from each source
  bool ignore = true;                      ///< obey .gitignore and .podrunignore, skip .git
  std::string home = {};                   ///< the user's home directory, for LocalTree::home()
  bool skyignore = false;                  ///< a .skyignore at the top of a source replaces .gitignore
};

}  // namespace podrun::transfer
