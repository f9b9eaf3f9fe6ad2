// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/run/outcome.hpp"

namespace podrun {

/// For a failed command of several words that look meant for a shell (`|`, `&&`, `>`, `*`, `cd`): how to say
/// that.
std::optional<std::string> quoting_hint(const std::vector<std::string>& words,
                                        const std::vector<HostOutcome>& outcomes);

enum class RemoteBy { ssh, via };

/// For hosts that were reached (`remote`: how those that are not this machine are), but whose /bin/sh never
/// answered: what may be in its way, and how to see it.
std::optional<std::string> start_up_hint(const std::vector<Host>& hosts,
                                         const std::vector<HostOutcome>& outcomes, RemoteBy remote);

}  // namespace podrun
