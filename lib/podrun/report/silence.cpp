// SPDX-License-Identifier: Apache-2.0
#include "podrun/report/silence.hpp"

#include <algorithm>
#include <utility>

#include "podrun/base/lower_median.hpp"

namespace podrun::report {

bool is_slow(Silence silence, Silence usual) {
  constexpr std::chrono::seconds kLong{5};
  return silence >= std::max<Silence>(kLong, 2 * usual + std::chrono::seconds(1));
}

std::vector<std::size_t> silent_ones(const std::vector<std::optional<Silence>>& silences) {
  std::vector<Silence> known;
  for (const std::optional<Silence>& silence : silences) {
    if (silence) known.push_back(*silence);
  }
  if (known.empty()) return {};
  const Silence usual = lower_median(std::move(known));
  std::vector<std::size_t> silent;
  for (std::size_t place = 0; place < silences.size(); ++place) {
    if (!silences[place] || is_slow(*silences[place], usual)) silent.push_back(place);
  }
  return silent;
}

}  // namespace podrun::report
