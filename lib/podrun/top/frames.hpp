// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podrun/devices/device_holders.hpp"

// Reads what top.sh prints. Pure. All text comes from the host: escape it before it is shown. What a host
// does not say is absent, never 0. Sizes are bytes, times seconds, and `at` is the host's uptime.
namespace podrun::top {

/// Why the clock of a GPU is below its most. docs.nvidia.com/deploy/nvml-api, "Clocks event reasons"
struct ClockReason {
  std::uint64_t bit;
  std::string_view name;
  std::string_view warning = {};  ///< empty: nothing is wrong
};
/// The most telling ones last; without idle.
inline constexpr std::array<ClockReason, 8> kClockReasons{{{0x100, "display_clocks"},
                                                           {0x10, "sync_boost"},
                                                           {0x2, "application_clocks"},
                                                           {0x4, "power_cap"},
                                                           {0x8, "hw_slowdown", "slowed by the hardware"},
                                                           {0x80, "power_brake", "power brake"},
                                                           {0x40, "hw_thermal", "hot"},
                                                           {0x20, "sw_thermal", "hot"}}};

/// One GPU or TPU chip. nvidia-smi(1); Linux, amdgpu in sysfs
struct Chip {
  std::size_t index = 0;
  std::optional<double> busy = {};  ///< percent of the time in which some kernel ran; of a TPU: duty cycle
  std::optional<double> watts = {};
  std::optional<std::uint64_t> memory_used = {};
  std::optional<std::uint64_t> memory_total = {};
  std::optional<double> celsius = {};
  std::optional<double> mhz = {};
  std::optional<double> most_mhz = {};
  std::optional<std::uint64_t> ecc_errors = {};  ///< that could not be corrected, since the driver started
  std::optional<std::uint64_t> slowed_by = {};   ///< bits of kClockReasons
  std::string fault = {};  ///< `[GPU is lost]`: what nvidia-smi says in place of a figure

  bool is_slowed_by(const ClockReason& reason) const { return (slowed_by.value_or(0) & reason.bit) != 0; }
  /// The most telling one; null: none.
  const ClockReason* reason() const;
};

struct Traffic {
  std::uint64_t in = 0;  ///< received, or read from disks
  std::uint64_t out = 0;
};

/// A network interface, or a port of InfiniBand.
struct NetworkLink {
  std::string name;
  std::string state;                        ///< `up`, `ACTIVE`
  std::optional<std::uint64_t> speed = {};  ///< Mbit/s of an interface, Gbit/s of a port
};

/// The counters of one frame.
struct Counters {
  double at = 0;
  std::optional<double> idle = {};  ///< of all CPUs since the start
  std::optional<double> load = {};
  std::optional<std::uint64_t> memory_total = {};
  std::optional<std::uint64_t> memory_available = {};
  std::optional<std::uint64_t> swap_total = {};
  std::optional<std::uint64_t> swap_free = {};
  std::optional<double> cpu_pressure = {};  ///< percent over 10 s, docs.kernel.org/accounting/psi.html
  std::optional<double> memory_pressure = {};
  std::optional<Traffic> net = {};
  std::optional<Traffic> disk = {};

  std::optional<std::uint64_t> swap_used() const;
};

/// Counters that cost more to read.
struct SlowCounters {
  double at = 0;
  std::array<std::uint64_t, 8> cpu_ticks = {};  ///< user nice system idle iowait irq softirq steal; proc(5)
  std::optional<std::uint64_t> oom_kills = {};
  std::vector<NetworkLink> links = {};
};

struct Mount {
  std::string path;
  std::string type;
  bool is_asked = false;   ///< podrun waits for its answer
  bool is_silent = false;  ///< it has not answered in time
  double asked_at = 0;
  std::optional<double> at = {};
  std::optional<std::uint64_t> size = {};
  std::optional<std::uint64_t> available = {};
  bool is_read_only = false;
  bool was_writable = false;

  /// Percent of what users may use, as df shows it.
  std::optional<double> percent_used() const;
};

/// Everything that a host has said, the latest of each kind.
struct HostReport {
  std::size_t cores = 0;                         ///< 0: not known
  std::size_t tpus = 0;                          ///< devices
  std::size_t gpus = 0;                          ///< devices of NVIDIA
  std::size_t pci_gpus = 0;                      ///< on the PCI bus, also those that the driver has lost
  std::vector<std::string> pci_tpus = {};        ///< PCI ids
  std::vector<std::uint16_t> metric_ports = {};  ///< on which a process may tell of its TPUs
  std::string gpu_name = {};
  std::optional<std::uint64_t> uid = {};  ///< podrun's user there
  std::optional<Counters> before = {};    ///< the frame before the last one
  std::optional<Counters> now = {};
  std::optional<SlowCounters> slow_before = {};
  std::optional<SlowCounters> slow = {};
  std::vector<Chip> chips = {};
  std::optional<double> chips_at = {};
  std::string gpu_text = {};                 ///< what nvidia-smi says instead of figures
  std::optional<double> gpus_ended_at = {};  ///< when nvidia-smi has ended
  std::optional<double> gpus_asked_at = {};  ///< since when nvidia-smi runs; none: podrun does not ask it
  std::vector<Mount> mounts = {};
  std::optional<double> clock = {};  ///< seconds since 1970 by its clock when its uptime was 0
  std::optional<devices::DeviceHolders> holders = {};
  double holders_at = 0;
  double last_at = 0;                    ///< uptime of the last frame, also of a connection before; 0: none
  bool has_rebooted = false;             ///< since then
  std::vector<std::uint64_t> gone = {};  ///< processes that have ended, of those that podrun has asked for
};

/// Reads the lines of one connection into a report. Unknown and broken lines are ignored, and all has a
/// limit.
class FrameReader {
 public:
  /// The most bytes between two frames; podrun gives up a host that sends more.
  static constexpr std::size_t kMostBytes = 256 * 1024;

  explicit FrameReader(HostReport& report);

  /// Returns whether a frame is complete. Throws HostError after kMostBytes without one.
  bool feed(std::string_view bytes);

 private:
  bool take(std::string_view line);
  void take_facts(std::string_view words);
  void take_mount(std::string_view rest);
  void take_frame(std::string_view words);
  void forget_boot();
  void take_answer_of_mount(std::string_view rest);
  void take_gpu(std::string_view rest);
  void take_holder(std::string_view rest);
  void take_ports(std::string_view rest);

  HostReport& report_;
  std::string line_ = {};
  bool is_too_long_ = false;
  std::size_t bytes_ = 0;
  std::vector<Chip> round_ = {};  ///< rows of nvidia-smi, until the first GPU comes again
  std::optional<devices::DeviceHolders> holders_ = {};  ///< a list that is not complete
  std::size_t holders_bytes_ = 0;
  double holders_at_ = 0;
};

}  // namespace podrun::top
