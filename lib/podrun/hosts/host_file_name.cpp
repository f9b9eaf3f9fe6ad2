// SPDX-License-Identifier: Apache-2.0
#include "podrun/hosts/host_file_name.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace podrun::hosts {

std::string host_file_name(const Host& host) {
  std::string name = fmt::format("{}-{}", host.worker, host.name);
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

}  // namespace podrun::hosts
