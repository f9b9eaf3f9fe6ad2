// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "podrun/transfer/comparison.hpp"

namespace podrun::transfer {

/// The directory that a path is in; empty: the target.
std::string parent(const std::string& path);
/// The last part of the path, as a path in its directory.
std::string quoted_name(const std::string& path);

/// The steps of a switch.
struct Steps {
  std::map<std::string, std::vector<std::string>> moved;  ///< directory: paths that go into it
  std::vector<std::string> in_the_way;                    ///< paths whose replacement has another kind
  std::set<std::string> changed;  ///< directories in which something is moved or deleted
  std::map<std::uint32_t, std::vector<std::string>> modes;       ///< of files, by their places in `held`
  std::map<std::int64_t, std::vector<std::string>> times;        ///< of files, as for `modes`
  std::map<std::string, std::vector<std::string>> held;          ///< directory: files that get modes or times
  std::vector<std::pair<std::string, std::uint32_t>> dir_modes;  ///< of directories
  std::vector<std::pair<std::string, std::int64_t>> dir_times;
  std::vector<std::string> opened;  ///< directories whose owner must get access first
};

/// Sets what is moved, and what is in its way.
void plan_moves(const LocalTree& tree, const Transfer& transfer, Steps& steps);
/// Sets modes and times, after plan_moves(). A new directory came with the access that staging needs, and a
/// changed one may have been opened.
void plan_attributes(const LocalTree& tree, const Transfer& transfer, Steps& steps);

}  // namespace podrun::transfer
