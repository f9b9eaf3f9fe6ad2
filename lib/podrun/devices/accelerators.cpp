// SPDX-License-Identifier: Apache-2.0
#include "podrun/devices/accelerators.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace podrun::devices {

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

bool is_unknown_to_nvidia_smi(std::string_view field) {
  constexpr std::array<std::string_view, 5> kWords = {"[N/A]", "N/A", "[Not Supported]", "Not Supported",
                                                      "[Insufficient Permissions]"};
  return std::ranges::find(kWords, field) != kWords.end();
}

bool is_fault_of_gpu(std::string_view field) {
  return (field.starts_with('[') || field.starts_with("ERR!")) && !is_unknown_to_nvidia_smi(field);
}

}  // namespace podrun::devices
