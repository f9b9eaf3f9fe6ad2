// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/hosts/probe.hpp"

#include "options.hpp"

namespace podrun {

/// The words of the user's own ssh to one host, for `podrun ssh RANK [ARG...]`: what the command line, the
/// list of hosts and our configuration say of it; ssh reads ~/.ssh/config itself. Throws UsageError.
std::vector<std::string> ssh_command(const Options& options, const Probe& probe);

}  // namespace podrun
