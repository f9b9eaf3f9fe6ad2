// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/probe.hpp"

// The hosts that `--workers failed` and `--workers silent` name: those of the last run that had such hosts,
// in a file each, `~/.local/state/podrun/failed_hosts`.
namespace podrun::hosts {

enum class Remembered { failed, silent };

/// The word of `--workers` for it; none for any other.
std::optional<Remembered> remembered_by(std::string_view word);

/// Keeps no hosts: those of an earlier run stay. Ignores failures, since this is a convenience.
void remember(Remembered which, const std::vector<Host>& hosts, const Probe& probe);

/// Keeps the hosts that are silent in a run or job that goes on, in place of those of an earlier run; also if
/// none is. Ignores failures.
void remember_silent_now(const std::vector<Host>& hosts, const Probe& probe);

struct RememberedHosts {
  std::string workers;  ///< their numbers, folded
  std::string note;     ///< for the user: `[3,7] failed in the run of 2026-11-21 14:05`
};

/// Throws UsageError if there are none, or if they are not in `hosts` with these numbers.
RememberedHosts recall(Remembered which, const std::vector<Host>& hosts, const Probe& probe);

}  // namespace podrun::hosts
