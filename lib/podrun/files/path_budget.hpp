// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace podrun::files {

/// How much podrun keeps of the paths that one host lists: a number of paths, and kBytes for each on average,
/// so that neither many paths nor long ones fill the memory.
class PathBudget {
 public:
  static constexpr std::size_t kUsualPaths = 250'000;
  static constexpr std::size_t kBytes = 256;  ///< of a path: its record, and its name twice

  explicit PathBudget(std::size_t paths) : paths_(paths) {}

  /// For a path with a record of this many bytes and a name of this length. Throws HostError if it is too
  /// much.
  void take(std::size_t record, std::size_t name);

 private:
  std::size_t paths_;
  std::size_t taken_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace podrun::files
