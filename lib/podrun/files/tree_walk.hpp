// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/files/ignore_rules.hpp"
#include "podrun/files/local_tree.hpp"

namespace podrun::files {

/// Where a word of the command line leads. Throws UsageError if it is missing or cannot be copied.
LocalSource find_source(const std::string& word);

/// What was found below sources.
struct Found {
  std::vector<Entry> entries = {};
  std::vector<std::string> special = {};  ///< see LocalTree
  std::size_t ignored = 0;
};

/// Adds the source, a file or link, under this name. Throws UsageError.
void take_file(const LocalSource& source, const std::string& name, std::uint32_t index, Found& found);

/// Adds a source directory and all that the rules leave in it, links not followed. A directory all of whose
/// contents are ignored is ignored too. Has two files open, however deep it goes. Throws UsageError.
void walk_tree(const LocalSource& source, std::uint32_t index, IgnoreRules& rules, Found& found);

/// Like open(2) with O_CLOEXEC, but a path may be longer than PATH_MAX. -1, with errno, on failure.
int open_path(std::string_view path, int flags);

}  // namespace podrun::files
