// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Reads what device_holders.sh prints: the processes that have accelerators of a host open. Pure.
// All text comes from the host: escape it before it is shown.
namespace podrun::devices {

/// A process that has an accelerator open.
struct DeviceHolder {
  std::uint64_t pid = 0;
  std::uint64_t start = 0;  ///< after boot, in clock ticks: with the pid it names a process. proc(5), stat
  std::uint64_t uid = 0;
  std::string user = {};  ///< the name of its user, or the uid
  std::chrono::seconds age{0};
  char state = '?';          ///< `D`: waits in the kernel, not even KILL ends it. proc(5), stat
  std::string name = {};     ///< at most 15 bytes
  std::string command = {};  ///< its words, or the first 300 bytes of them
  /// Names the run that started it: `RUN.WORKER.` or `RUN.job-WORKER-NAME.`; empty: none.
  std::string mark = {};
  bool run_lives = false;                 ///< that run has not ended
  std::string cgroup = {};                ///< empty: it is not in a container
  std::vector<std::string> devices = {};  ///< `/dev/accel0`
};

/// A process that got KILL.
struct KilledProcess {
  std::uint64_t pid = 0;
  std::string name = {};  ///< at most 15 bytes
  friend bool operator==(const KilledProcess&, const KilledProcess&) = default;
};

/// All of a host. What only podrun kill asks for is empty elsewhere.
struct DeviceHolders {
  bool is_complete = false;
  bool sees_all = false;    ///< lists the processes of other users too
  std::uint64_t uid = 0;    ///< of podrun's shell on the host
  std::string cgroup = {};  ///< of podrun's shell; empty: not in a container, or no process was listed
  std::vector<std::string> devices = {};
  std::vector<std::uint64_t> above = {};  ///< podrun's shell there and its ancestors; only with processes
  std::vector<DeviceHolder> holders = {};
  std::vector<std::string> marks = {};  ///< of all processes, each once; only if asked for
  std::vector<KilledProcess> killed = {};
  std::vector<std::string> removed_locks = {};
  std::string kept_lock = {};  ///< `PID holds PATH`: why a lock file was not removed; empty: there was none
};

/// Reads one line. Unknown ones are ignored.
void read_line(DeviceHolders& list, std::string_view line);

/// Reads a host's standard output from the line after `begin`.
DeviceHolders parse_device_holders(std::string_view output, std::string_view begin);

/// The number at the end of the name of a device: 3 of `/dev/nvidia3`; none: it has no number.
std::optional<std::size_t> device_number(std::string_view device);

}  // namespace podrun::devices
