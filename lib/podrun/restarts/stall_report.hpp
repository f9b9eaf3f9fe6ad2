// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"

namespace podrun::restarts {

/// What capture.sh has printed on one host: stacks and more.
struct Captured {
  std::size_t host = 0;
  std::string text = {};
};

/// What people see of it, in about `most` lines: `[7] (1)`, the text of that host below it, and so on. Hosts
/// whose texts differ in numbers and momentary states only are one group; the smallest group, where the cause
/// is likely, comes first. Each group has some lines, and registers are left out.
std::vector<std::string> describe_captures(const std::vector<hosts::Host>& hosts,
                                           const std::vector<Captured>& captured, std::size_t most);

}  // namespace podrun::restarts
