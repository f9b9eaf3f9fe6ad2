// SPDX-License-Identifier: Apache-2.0
#include "podrun/hosts/accelerators.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace podrun::hosts {

std::string_view tpu_name(const std::vector<std::string>& pci_ids) {
  // jax/_src/hardware_utils.py; Google makes other devices too, such as network cards.
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kNames = {
      {{"0x0027", "TPU v2 or v3"},
       {"0x005e", "TPU v4"},
       {"0x0062", "TPU v5p"},
       {"0x0063", "TPU v5e"},
       {"0x006f", "TPU v6e"},
       {"0x0076", "TPU v7x"}}};
  for (const auto& [id, name] : kNames) {
    if (std::ranges::find(pci_ids, id) != pci_ids.end()) return name;
  }
  return "TPU";
}

}  // namespace podrun::hosts
