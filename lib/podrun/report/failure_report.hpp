// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/run/outcome.hpp"

namespace podrun::report {

/// Shows the last lines of failed hosts, without newlines. Hosts with the same outcome and the same last
/// lines are one kind; each outcome shows at most 3 kinds. A kind whose lines were just seen is left out.
/// Pure.
std::vector<std::string> report_failures(
    const std::vector<hosts::Host>& hosts, const std::vector<run::HostOutcome>& outcomes,
    const std::function<std::vector<std::string>(std::size_t host)>& last_lines,
    const std::function<bool(std::size_t host)>& were_just_seen);

/// The labels of the hosts that did not succeed, `3,17`: failed, stopped by podrun or not started. Empty
/// where these are all hosts, or none, or nothing was started at all.
std::string workers_to_repeat(const std::vector<hosts::Host>& hosts,
                              const std::vector<run::HostOutcome>& outcomes);

}  // namespace podrun::report
