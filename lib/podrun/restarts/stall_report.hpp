// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"

namespace podrun::restarts {

/// The answer of capture.sh on one host: stacks and more.
struct Captured {
  std::size_t host = 0;
  std::string text = {};
};

/// The answers of all hosts in about `most` lines: `[7] (1)`, the text of that host, and so on. Hosts whose
/// texts differ only in numbers and momentary states are one group; the smallest, which likely has the cause,
/// comes first. Each group has some lines. Registers are left out.
std::vector<std::string> describe_captures(const std::vector<hosts::Host>& hosts,
                                           const std::vector<Captured>& captured, std::size_t most);

}  // namespace podrun::restarts
