// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/hosts/probe.hpp"

#include "options.hpp"

namespace podrun {

/// What `podrun hosts` prints.
struct HostsAnswer {
  std::string text;                ///< on standard output
  std::vector<std::string> notes;  ///< each a line of standard error: what was tried, and what to know
};

/// One line for each host with its rank, name, address and source, or JSON; with --save writes podips.txt;
/// with
/// --forget-keys drops their stored host keys instead, and says how many. Throws UsageError.
HostsAnswer answer_hosts(const Options& options, const Probe& probe);

}  // namespace podrun
