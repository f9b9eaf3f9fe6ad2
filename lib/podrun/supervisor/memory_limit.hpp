// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

// Reads what memory.sh prints: the limit of a container or a Slurm job. Pure.
namespace podrun::supervisor {

struct MemoryLimit {
  std::uint64_t total = 0;      ///< bytes that a cgroup may use
  std::uint64_t available = 0;  ///< of these, what is left before the kernel kills
};

/// `LIMIT,USED,CACHE,CACHE`; none: no limit, or not its numbers.
std::optional<MemoryLimit> parse_memory_limit(std::string_view text);

}  // namespace podrun::supervisor
