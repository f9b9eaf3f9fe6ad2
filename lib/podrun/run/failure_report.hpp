// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/run/outcome.hpp"

namespace podrun {

/// The last lines of each kind of failure, each a line without a newline: hosts that ended alike behind the
/// same lines are one kind, of one outcome at most 3 are shown. Kinds of which every host's were just seen
/// are left out. Pure.
std::vector<std::string> report_failures(
    const std::vector<Host>& hosts, const std::vector<HostOutcome>& outcomes,
    const std::function<std::vector<std::string>(std::size_t host)>& last_lines,
    const std::function<bool(std::size_t host)>& were_just_seen);

/// The labels of the hosts to repeat the run on, `3,17`; empty where that would be none, or all there are.
std::string ranks_to_repeat(const std::vector<Host>& hosts, const std::vector<HostOutcome>& outcomes);

}  // namespace podrun
