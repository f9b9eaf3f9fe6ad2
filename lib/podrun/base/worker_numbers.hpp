// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace podrun {

/// Folds worker numbers for people: {0,1,2,7} is `0-2,7`. They may come in any order; repeats count once.
std::string fold_workers(std::vector<std::size_t> workers);

/// Reads `0,3-7`, in the order written. Throws UsageError that names the bad part, or for more than a million
/// numbers.
std::vector<std::size_t> parse_workers(std::string_view text);

}  // namespace podrun
