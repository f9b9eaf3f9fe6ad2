// SPDX-License-Identifier: Apache-2.0
// Compares what a host has with the local tree: a file by size and time, or by its contents, which the host
// is asked about later; a link by where it leads; a directory by its mode, since not every tar sets its time.
#include "podrun/transfer/comparison.hpp"

#include <algorithm>

namespace podrun::transfer {
namespace {

char letter(Kind kind) { return kind == Kind::directory ? 'd' : kind == Kind::link ? 'l' : 'f'; }

/// True if a path of `sorted` is below the directory.
bool has_below(const std::vector<HostOnly>& sorted, const std::string& directory) {
  const std::string first = directory + '/';
  const auto found = std::ranges::lower_bound(sorted, first, {}, &HostOnly::path);
  return found != sorted.end() && found->path.starts_with(first);
}

/// Lets a directory stand for everything in it. A directory that keeps something stays.
std::vector<HostOnly> fold_deleted(std::vector<HostOnly> paths, const std::vector<HostOnly>& kept) {
  std::vector<HostOnly> folded;
  Directories whole;
  for (HostOnly& each : paths) {
    if (whole.contain(each.path) || (each.is_directory && has_below(kept, each.path))) continue;
    if (each.is_directory) whole.add(each.path);
    folded.push_back(std::move(each));
  }
  return folded;
}

}  // namespace

bool Directories::contain(std::string_view path) const {
  for (std::size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
    if (paths_.contains(path.substr(0, slash))) return true;
  }
  return false;
}

Comparison::Comparison(const LocalTree& tree, Compare compare, Delete remove, PathBudget budget)
    : tree_(tree), compare_(compare), delete_(remove), budget_(budget), states_(tree.entries().size()) {}

void Comparison::add(const HostEntry& host) {
  if (const std::optional<std::size_t> index = tree_.find(host.path)) {
    compare(host, *index);
  } else if (delete_ == Delete::yes && !host.path.empty()) {
    budget_.spend(sizeof(HostOnly), host.path.size());
    host_only_.push_back({std::string(host.path), host.kind == 'd'});
  }
}

void Comparison::add_behind_link(const HostEntry& host) {
  const std::optional<std::size_t> index = tree_.find(host.path);
  if (index && !states_[*index].present) compare(host, *index);
}

void Comparison::keep_link(std::size_t index, bool leads_elsewhere) {
  states_[index].same_kind = true;
  states_[index].is_kept = true;
  states_[index].leads_elsewhere = leads_elsewhere;
}

void Comparison::compare(const HostEntry& host, std::size_t index) {
  const Entry* const found = &tree_.entries()[index];
  PathState& state = states_[index];
  state.is_link = host.kind == 'l';
  if (state.is_link && found->kind == Kind::directory && !state.present) links_.push_back(index);
  state.present = true;
  state.same_kind = host.kind == letter(found->kind);
  state.is_directory = host.kind == 'd';
  state.is_own_target = state.is_link && host.link_target == host.path.substr(host.path.rfind('/') + 1);
  if (!state.same_kind) return;
  state.lacks_access = state.is_directory && (host.mode & kOwnerAccess) != kOwnerAccess;
  if (host.path.empty()) return;  // the target keeps its mode, which may be that of a home directory
  state.mode_differs = found->kind != Kind::link && host.mode != found->mode;
  state.time_differs = found->kind == Kind::file && host.mtime != found->mtime;
  if (found->kind == Kind::link) state.differs = host.link_target != found->link_target;
  if (found->kind == Kind::file)
    state.differs = host.size != found->size || (compare_ == Compare::size_and_time && state.time_differs);
}

std::vector<HostOnly> Comparison::take_host_only() {
  std::ranges::sort(host_only_, {}, &HostOnly::path);
  return std::move(host_only_);
}

Transfer make_transfer(const LocalTree& tree, std::vector<PathState> states, std::vector<HostOnly> to_delete,
                       const std::vector<HostOnly>& kept) {
  Transfer transfer;
  Directories elsewhere;
  std::string last_elsewhere;
  const std::vector<Entry>& entries = tree.entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const PathState& state = states[i];
    const bool target_itself = entries[i].path.empty();
    if (!target_itself && (!state.present || !state.same_kind || state.differs)) {
      transfer.chosen.push_back(i);
      if (entries[i].kind != Kind::directory) ++transfer.files;
      if (entries[i].kind == Kind::directory && state.is_link) transfer.replaced_links.push_back(i);
      transfer.bytes += entries[i].size;
      if (elsewhere.contain(entries[i].path)) transfer.elsewhere = last_elsewhere;
    } else if (entries[i].kind != Kind::link) {
      const bool has_attributes = !state.present || state.mode_differs || state.time_differs;
      transfer.has_attributes |= has_attributes;
      if (has_attributes && elsewhere.contain(entries[i].path)) transfer.elsewhere = last_elsewhere;
      if (state.leads_elsewhere) elsewhere.add(last_elsewhere = entries[i].path);
    }
  }
  transfer.states = std::move(states);
  transfer.deleted = fold_deleted(std::move(to_delete), kept);
  return transfer;
}

}  // namespace podrun::transfer
