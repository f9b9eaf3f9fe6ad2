// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Reads the output of check.sh. Pure. All text comes from the host: escape it before it is shown.
namespace podrun::check {

/// The size of the file system that holds a directory, in bytes.
struct DiskSpace {
  std::string role;   ///< `root`, `tmp` or `home`
  std::string mount;  ///< where it is mounted
  std::uint64_t size = 0;
  std::uint64_t available = 0;  ///< to this user
};

/// An accelerator of a host.
struct Device {
  std::string kind;  ///< `TPU`, `NVIDIA`, `AMD`: device_kinds.sh
  std::string path;  ///< `/dev/accel0`, `/dev/vfio/3`, `/dev/nvidia0`
  friend bool operator==(const Device&, const Device&) = default;
};

/// A process that has an accelerator open, or all of a kind.
struct HeldDevice {
  std::string device;  ///< its file
  std::string pid;
  std::string user;
  std::string command;    ///< the name of its program, at most 15 bytes
  std::string job = {};   ///< the name of the podrun job that started it; empty: none
  std::string kind = {};  ///< of the accelerator
};

struct HostFacts {
  bool answered = false;
  bool complete = false;
  std::string looking_at;  ///< the step that it has reached, in words

  std::optional<std::chrono::microseconds> clock;  ///< since the epoch
  std::chrono::microseconds clock_step{1};         ///< its resolution
  std::optional<std::uint64_t> memory_total = {};  ///< bytes
  std::optional<std::uint64_t> memory_available = {};
  std::vector<DiskSpace> disks;
  std::vector<Device> devices;
  std::vector<HeldDevice> holders;
  bool sees_all = true;           ///< holders of every user
  std::vector<std::string> pci;   ///< PCI ids of Google's devices, also those in a vfio group: `0x0063`
  std::vector<std::string> gpus;  ///< `NAME, DRIVER` of each that nvidia-smi lists
  std::vector<std::string> gpu_faults = {};  ///< `[GPU is lost]`: what it lists in place of a GPU
  std::vector<std::string> gpu_texts = {};   ///< its other lines
  /// NVIDIA's devices that this user may open; none: nvidia-smi is not installed, or did not end.
  std::optional<std::size_t> gpus_to_see = {};
  std::vector<std::string> hangs, read_only;  ///< directories

  /// kernel, open_files, processes, locked_memory, python, python_path, python_error, jax, jaxlib, libtpu,
  /// torch, commit, branch, changes (`3 HASH`: files, and a digest of what they are), git_error, gpu_error
  /// (how nvidia-smi failed): as printed.
  std::map<std::string, std::string, std::less<>> values;

  /// Empty if the host did not say.
  const std::string& value(std::string_view name) const;
  std::size_t count_devices(std::string_view kind) const;
};

/// Reads a host's standard output from the line after the nonce. Unknown lines are ignored.
HostFacts parse_check_reply(std::string_view output, std::string_view nonce);

}  // namespace podrun::check
