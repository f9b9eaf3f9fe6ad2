// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

// The names of accelerators. Pure.
namespace podrun::hosts {

/// `TPU v5e`, by the PCI ids of Google's devices on a host (`0x0063`); `TPU` if none of them tells.
std::string_view tpu_name(const std::vector<std::string>& pci_ids);

}  // namespace podrun::hosts
