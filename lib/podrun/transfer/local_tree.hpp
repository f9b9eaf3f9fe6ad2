// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/transfer/tree_entry.hpp"

namespace podrun::transfer {

struct Listing;

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
