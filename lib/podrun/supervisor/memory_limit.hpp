// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

// Reads what memory.sh prints: the limit of a container or a Slurm job. Pure.
namespace podrun::supervisor {

/// Lowers the bytes of a machine, if they are known, to those of a limit: `LIMIT,USED,CACHE,CACHE`.
/// `available`: what is left before the kernel kills. A text that is not a limit changes nothing.
void limit_memory(std::string_view text, std::optional<std::uint64_t>& total,
                  std::optional<std::uint64_t>& available);

}  // namespace podrun::supervisor
