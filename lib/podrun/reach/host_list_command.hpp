// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "podrun/hosts/probe.hpp"

namespace podrun::reach {

/// `--hosts-command`: runs a shell command on this machine for at most 60 s and returns its output. With
/// `cache`, returns an earlier output that is younger than that (~/.cache/podrun). Throws UsageError with the
/// last line that the command printed on standard error.
std::string read_hosts_command(const std::string& command, std::optional<std::chrono::seconds> cache,
                               const hosts::Probe& probe);

}  // namespace podrun::reach
