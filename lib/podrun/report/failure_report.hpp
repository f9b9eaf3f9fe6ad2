// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/run/outcome.hpp"

namespace podrun::report {

/// The last lines of each kind of failure, each a line without a newline: hosts that ended alike behind the
/// same lines are one kind, of one outcome at most 3 are shown. Kinds of which every host's were just seen
/// are left out. Pure.
std::vector<std::string> report_failures(
    const std::vector<hosts::Host>& hosts, const std::vector<run::HostOutcome>& outcomes,
    const std::function<std::vector<std::string>(std::size_t host)>& last_lines,
    const std::function<bool(std::size_t host)>& were_just_seen);

/// The labels of the hosts that did not succeed, `3,17`: failed, ended by podrun or not started. Empty where
/// these are all hosts, or none, or nothing was started at all.
std::string ranks_to_repeat(const std::vector<hosts::Host>& hosts,
                            const std::vector<run::HostOutcome>& outcomes);

}  // namespace podrun::report
