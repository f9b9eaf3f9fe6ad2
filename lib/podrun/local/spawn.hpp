// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace podrun::local {

struct Child {
  std::vector<std::string> arguments;  ///< the first is found with podrun's PATH
  /// `NAME=VALUE`, the whole environment; nothing: podrun's.
  std::optional<std::vector<std::string>> environment = {};
  std::string directory = {};  ///< empty: podrun's
  std::array<int, 3> descriptors;
  bool new_session = false;
};

struct Spawned {
  pid_t pid = 0;
  int error = 0;  ///< an errno value if there is no child
};

/// Starts a program with default signals, which has no other descriptors than these three.
Spawned spawn(const Child& child);

}  // namespace podrun::local
