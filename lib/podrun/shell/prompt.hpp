// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/run/outcome.hpp"

namespace podrun::shell {

/// How the line before ended, for the prompt.
struct LineEnd {
  std::vector<hosts::Host> hosts = {};
  std::vector<run::HostOutcome> outcomes = {};
};

/// `podrun [0-7]> `, `podrun [0-6] · [2] exit 1 · not connected [7]> `: the hosts of the next line, the
/// failures of the line before, and the hosts that are not connected any more. At most about 60 columns.
/// Pure.
std::string make_prompt(const std::vector<std::size_t>& workers, const LineEnd& before,
                        const std::vector<std::size_t>& lost, std::string_view separator);

}  // namespace podrun::shell
