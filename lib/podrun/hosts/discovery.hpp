// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/probe.hpp"

namespace podrun {

/// Whether this machine takes part where the list alone would leave it out (`-i`).
enum class IncludeLocal { no, yes };

/// Whether a host may be given twice (`--allow-repeats`).
enum class Repeats { refuse, allow };

/// What the user said about which hosts.
struct HostQuery {
  std::vector<std::string> lists;       ///< each `-H`
  std::optional<std::string> hostfile;  ///< `--hostfile`
  std::vector<std::string> exclude;     ///< each `-x`
  std::optional<std::string> ranks;     ///< `--ranks`
  IncludeLocal include_local = IncludeLocal::no;
  Repeats repeats = Repeats::refuse;
};

/// Whether `-H -` or `-x -` makes discover() consume the standard input.
bool reads_standard_input(const HostQuery& query);

/// The hosts of the run, in the order of their list: the chosen one, else `~/podips.txt`. Never empty.
/// Throws UsageError when there are none, a list is wrong, or a choice matches nothing.
std::vector<Host> discover(const HostQuery& query, const Probe& probe);

}  // namespace podrun
