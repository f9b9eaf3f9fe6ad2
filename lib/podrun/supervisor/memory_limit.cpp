// SPDX-License-Identifier: Apache-2.0
#include "podrun/supervisor/memory_limit.hpp"

#include <algorithm>

#include "podrun/base/text.hpp"

namespace podrun::supervisor {

std::optional<MemoryLimit> parse_memory_limit(std::string_view text) {
  const std::optional<std::size_t> limit = to_number(take_part(text, ','));
  std::optional<std::size_t> used = to_number(take_part(text, ','));
  if (!limit || *limit == 0 || !used) return std::nullopt;
  while (!text.empty()) *used -= std::min(*used, to_number(take_part(text, ',')).value_or(0));
  return MemoryLimit{*limit, *limit - std::min(*limit, *used)};
}

}  // namespace podrun::supervisor
