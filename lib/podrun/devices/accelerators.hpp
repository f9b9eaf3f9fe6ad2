// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

// The names of accelerators. Pure.
namespace podrun::devices {

/// `TPU v5e`, by the PCI ids of Google's devices on a host (`0x0063`); `TPU` if none of them tells.
std::string_view tpu_name(const std::vector<std::string>& pci_ids);

/// The kinds of which podrun knows more than the name, by their names in device_kinds.sh.
inline constexpr std::string_view kTpu = "TPU";
inline constexpr std::string_view kNvidia = "NVIDIA";

/// True for the words of nvidia-smi in place of a value that this kind of GPU does not have.
bool is_unknown_to_nvidia_smi(std::string_view field);
/// True for its words in place of a value of a GPU that does not work: `[GPU is lost]`, `ERR!`.
bool is_fault_of_gpu(std::string_view field);

}  // namespace podrun::devices
