// SPDX-License-Identifier: Apache-2.0
// Plans a switch: what goes where, and what gets which mode and time afterwards.
#include "podrun/transfer/switch_steps.hpp"

#include "podrun/base/shell_quote.hpp"

namespace podrun::transfer {

std::string parent(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::string quoted_name(const std::string& path) {
  return shell_quote("./" + path.substr(path.rfind('/') + 1));
}

void plan_moves(const LocalTree& tree, const Transfer& transfer, Steps& steps) {
  Directories whole;
  for (const std::size_t index : transfer.chosen) {
    const Entry& entry = tree.entries()[index];
    if (whole.contain(entry.path)) continue;
    const PathState& state = transfer.states[index];
    const bool is_other_kind = !state.same_kind && (state.is_directory || entry.kind == Kind::directory);
    if (state.present && (is_other_kind || state.is_own_target)) steps.in_the_way.push_back(entry.path);
    steps.moved[parent(entry.path)].push_back(entry.path);
    if (entry.kind == Kind::directory) whole.add(entry.path);
  }
  for (const auto& [directory, paths] : steps.moved) steps.changed.insert(directory);
  for (const HostOnly& each : transfer.deleted) steps.changed.insert(parent(each.path));
}

void plan_attributes(const LocalTree& tree, const Transfer& transfer, Steps& steps) {
  const std::vector<Entry>& entries = tree.entries();
  std::size_t next = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    const PathState& state = transfer.states[i];
    const bool chosen = next < transfer.chosen.size() && transfer.chosen[next] == i;
    if (chosen) ++next;
    if (entry.kind == Kind::link || state.is_kept || (chosen && entry.kind == Kind::file)) continue;
    const bool changed = entry.kind == Kind::directory && steps.changed.contains(entry.path);
    const bool opened = !chosen && changed && state.lacks_access;
    if (opened) steps.opened.push_back(entry.path);
    const bool lacks_access = (entry.mode & kOwnerAccess) != kOwnerAccess;
    const bool sets_mode = chosen ? lacks_access : opened || !state.present || state.mode_differs;
    const bool sets_time =
        !chosen && ((changed && !entry.path.empty()) || !state.present || state.time_differs);
    if (entry.kind == Kind::directory) {
      if (sets_mode) steps.dir_modes.emplace_back(entry.path, entry.mode);
      if (sets_time) steps.dir_times.emplace_back(entry.path, entry.mtime);
      continue;
    }
    const std::string place = shell_quote("./held/" + entry.path);
    if (sets_mode) steps.modes[entry.mode].push_back(place);
    if (sets_time) steps.times[entry.mtime].push_back(place);
    if (sets_mode || sets_time) steps.held[parent(entry.path)].push_back(quoted_name(entry.path));
  }
}

}  // namespace podrun::transfer
