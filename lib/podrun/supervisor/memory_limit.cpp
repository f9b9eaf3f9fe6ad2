// SPDX-License-Identifier: Apache-2.0
#include "podrun/supervisor/memory_limit.hpp"

#include <algorithm>

#include "podrun/base/text.hpp"

namespace podrun::supervisor {

void limit_memory(std::string_view text, std::optional<std::uint64_t>& total,
                  std::optional<std::uint64_t>& available) {
  const std::optional<std::size_t> limit = to_number(take_part(text, ','));
  std::optional<std::size_t> used = to_number(take_part(text, ','));
  if (!limit || *limit == 0 || !used) return;
  while (!text.empty()) *used -= std::min(*used, to_number(take_part(text, ',')).value_or(0));
  const std::uint64_t left = *limit - std::min(*limit, *used);
  total = std::min<std::uint64_t>(total.value_or(*limit), *limit);
  available = std::min(available.value_or(left), left);
}

}  // namespace podrun::supervisor
