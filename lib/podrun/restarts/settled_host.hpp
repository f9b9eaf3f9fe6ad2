// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/devices/watchers.hpp"
#include "podrun/restarts/restart_policy.hpp"

// The state of a host between two tries, as settle.sh prints it. Pure. Texts come from the host: escape them
// before they are shown.
namespace podrun::restarts {

/// A process that keeps a try from starting.
struct Obstacle {
  std::uint64_t pid = 0;
  std::string name = {};    ///< 15 bytes on Linux; at most 64
  char state = '?';         ///< `D`: waits in the kernel, not even KILL ends it. proc(5), stat
  bool is_left = false;     ///< of the last try: KILL has not ended it
  std::string device = {};  ///< the accelerator, or lock file of libtpu, that it has open; empty: none
  friend bool operator==(const Obstacle&, const Obstacle&) = default;
};

struct SettledHost {
  bool is_complete = false;
  std::string boot = {};                                  ///< /proc/sys/kernel/random/boot_id, random(4)
  std::string machine = {};                               ///< machine-id(5); empty: there is none
  std::optional<std::uint64_t> oom_kills = std::nullopt;  ///< as memory.sh counts them
  std::vector<Obstacle> obstacles = {};                   ///< each pid once
  friend bool operator==(const SettledHost&, const SettledHost&) = default;
};

/// Reads a host's standard output. Watchers that have a device open (devices::is_watcher) are left out.
SettledHost parse_settled_host(std::string_view output, std::string_view nonce);

/// Removes the holders that did not keep the first try from its start, such as a daemon of the machine: those
/// of `before`, or after a boot those of the same name.
void forget_sharers(SettledHost& now, const SettledHost& before);

/// Compares a host with `before`, its state at the start of the last try.
HostAfterTry compare(const SettledHost& before, const SettledHost& now);

}  // namespace podrun::restarts
