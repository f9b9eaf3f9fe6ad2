// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/check/scripts.hpp"

// The answer of check.sh. Pure. All text comes from the host: escape it before it is shown.
namespace podrun::check {

/// The size of the file system that holds a directory, in bytes.
struct DiskSpace {
  std::string role;   ///< `root`, `tmp` or `home`
  std::string mount;  ///< where it is mounted
  std::uint64_t size = 0;
  std::uint64_t available = 0;  ///< to this user
};

using Device = CheckAnswer::Device;    ///< kind: `TPU`, `NVIDIA`, `AMD`: device_kinds.sh; path: `/dev/vfio/3`
using HeldDevice = CheckAnswer::Held;  ///< job: the podrun job that started the process; empty: none

/// The answer of check.sh on a host, with its clock, disks and GPUs in their own types.
struct HostFacts : CheckAnswer {
  std::optional<std::chrono::microseconds> clock = {};  ///< since the epoch
  std::chrono::microseconds clock_step{1};              ///< its resolution
  std::vector<DiskSpace> disks = {};
  std::vector<std::string> gpus = {};        ///< `NAME, DRIVER` of each that nvidia-smi lists
  std::vector<std::string> gpu_faults = {};  ///< `[GPU is lost]`: what it lists in place of a GPU
  std::vector<std::string> gpu_texts = {};   ///< its other lines

  /// Empty if the host did not say.
  const std::string& value(std::string_view name) const;
  std::size_t count_devices(std::string_view kind) const;
};

/// Reads a host's standard output.
HostFacts parse_check_reply(std::string_view output, std::string_view nonce);

}  // namespace podrun::check
