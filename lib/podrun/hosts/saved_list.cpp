// SPDX-License-Identifier: Apache-2.0
#include "podrun/hosts/saved_list.hpp"

#include <algorithm>

#include "podrun/hosts/host_list.hpp"
#include "podrun/hosts/sources.hpp"
#include "podrun/hosts/this_machine.hpp"

namespace podrun::hosts {

std::string saved_list(const std::vector<Host>& all, const Probe& probe) {
  const ThisMachine self(probe);
  const auto own = std::count_if(all.begin(), all.end(), [&](const Host& host) { return self.is(host); });
  const bool only_others = own == 1 && self.is(all.front());
  const bool needs_mark = own == 0 && all.front().worker == 0;
  std::string text;
  if (needs_mark) text += std::string(kAllHostsLine) + "\n";
  for (auto host = all.begin() + (only_others ? 1 : 0); host != all.end(); ++host)
    text += to_text(*host) + "\n";
  return text;
}

}  // namespace podrun::hosts
