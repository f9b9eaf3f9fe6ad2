// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"

namespace podrun::test {

/// Hosts `tpu-0` to `tpu-<count - 1>`, with these worker numbers.
inline std::vector<hosts::Host> pod(std::size_t count) {
  std::vector<hosts::Host> hosts(count);
  for (std::size_t label = 0; label < count; ++label) {
    hosts[label].worker = label;
    hosts[label].name = "tpu-" + std::to_string(label);
  }
  return hosts;
}

}  // namespace podrun::test
