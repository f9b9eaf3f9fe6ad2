// SPDX-License-Identifier: Apache-2.0
// Puts what was found below each source together, in order, and refuses two things with one name.
#include "podrun/files/local_tree.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/files/ignore_rules.hpp"
#include "podrun/files/tree_walk.hpp"

namespace podrun::files {
namespace {

std::string without_last_slash(std::string path) {
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

LocalTree LocalTree::read(const TreeRequest& request) {
  LocalTree tree;
  Found found;
  for (const std::string& word : request.sources) {
    const auto index = static_cast<std::uint32_t>(tree.sources_.size());
    const LocalSource source = find_source(word);
    if (source.is_directory()) {
      IgnoreRules rules(source.local, request);
      walk_tree(source, index, rules, found);
    } else {
      const std::string name = request.into.empty() ? word.substr(word.rfind('/') + 1) : request.into;
      take_file(source, name, index, found);
    }
    tree.sources_.push_back(source);
  }
  tree.entries_ = std::move(found.entries);
  tree.special_ = std::move(found.special);
  tree.ignored_ = found.ignored;
  tree.sort();
  return tree;
}

void LocalTree::sort() {
  std::sort(entries_.begin(), entries_.end(), [](const Entry& one, const Entry& other) {
    return std::tie(one.path, one.source) < std::tie(other.path, other.source);
  });
  const auto stands_for = [this](const Entry& first, const Entry& next) {
    if (first.path != next.path) return false;
    const bool are_directories = first.kind == Kind::directory && next.kind == Kind::directory;
    if (are_directories || local_path(first) == local_path(next)) return true;
    throw UsageError(fmt::format("push: {:?} and {:?} would both become {:?} on the hosts",
                                 without_last_slash(local_path(first)), without_last_slash(local_path(next)),
                                 first.path));
  };
  entries_.erase(std::unique(entries_.begin(), entries_.end(), stands_for), entries_.end());
}

std::string LocalTree::local_path(const Entry& entry) const {
  const LocalSource& source = sources_[entry.source];
  const bool is_source = !source.is_directory() || entry.path.size() <= source.prefix.size();
  return is_source ? source.local : source.local + entry.path.substr(source.prefix.size());
}

}  // namespace podrun::files
