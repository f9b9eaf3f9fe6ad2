// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/run/outcome.hpp"

namespace podrun::report {

/// For a failed command of several words that look meant for a shell (`|`, `&&`, `>`, `*`, `cd`): how to say
/// that.
std::optional<std::string> quoting_hint(const std::vector<std::string>& words,
                                        const std::vector<run::HostOutcome>& outcomes);

enum class RemoteBy { ssh, via };

/// For hosts that were reached (`remote`: how those that are not this machine are), but whose /bin/sh never
/// answered, or was not started since sudo wants a password: what may be in its way, and how to see it.
std::optional<std::string> start_up_hint(const std::vector<hosts::Host>& hosts,
                                         const std::vector<run::HostOutcome>& outcomes, RemoteBy remote);

}  // namespace podrun::report
