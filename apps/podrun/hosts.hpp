// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "podrun/hosts/probe.hpp"

#include "options.hpp"

namespace podrun {

/// `podrun hosts`: one line for each host with its rank, name and source; or, with --forget-keys, drops their
/// stored host keys and says how many. Throws UsageError.
std::string answer_hosts(const Options& options, const Probe& probe);

}  // namespace podrun
