// SPDX-License-Identifier: Apache-2.0
// A tree that a host has listed, and what is found in any tree.
#include <algorithm>
#include <map>

#include "podrun/transfer/listing.hpp"
#include "podrun/transfer/local_tree.hpp"

namespace podrun::transfer {
namespace {

constexpr std::uint32_t kSetId = 06000;

}  // namespace

/// Without set-user-ID and set-group-ID: the host must not choose as whom others run it.
LocalTree LocalTree::listed(const Listing& listing) {
  LocalTree tree;
  if (listing.has_home) tree.home_ = "~/";
  std::map<std::string, std::uint32_t, std::less<>> sources;  // by directory there
  for (const ListedPath& path : listing.paths) {
    const std::string above = path.host_path.substr(0, path.local_at);
    const auto [source, is_new] = sources.emplace(above, static_cast<std::uint32_t>(sources.size()));
    if (is_new) tree.sources_.push_back({.local = above});
    tree.entries_.push_back({.path = std::string(path.path()),
                             .link_target = path.link_target,
                             .size = path.kind == Kind::file ? path.size : 0,
                             .mtime = path.mtime,
                             .mode = path.kind == Kind::link ? 0 : path.mode & ~kSetId,
                             .source = source->second,
                             .kind = path.kind,
                             .identity = path.identity});
  }
  std::ranges::sort(tree.entries_, {}, &Entry::path);
  return tree;
}

LocalTree LocalTree::renamed(const std::string& name) const {
  LocalTree tree = *this;
  Entry& entry = tree.entries_.front();
  tree.sources_[entry.source].local = local_path(entry);
  entry.path = name;
  return tree;
}

std::optional<std::size_t> LocalTree::find(std::string_view path) const {
  const auto found = std::ranges::lower_bound(entries_, path, {}, &Entry::path);
  if (found == entries_.end() || found->path != path) return std::nullopt;
  return static_cast<std::size_t>(found - entries_.begin());
}

std::string LocalTree::local_path(const Entry& entry) const {
  const LocalSource& source = sources_[entry.source];
  const bool is_source = !source.is_directory() || entry.path.size() <= source.prefix.size();
  return is_source ? source.local : source.local + entry.path.substr(source.prefix.size());
}

}  // namespace podrun::transfer
