// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace podrun::cli {

/// `--hosts-command`: the output of a shell command on this machine, for at most 60 s. With `cache`, an
/// output younger than that is used again (~/.cache/podrun). Throws UsageError with the command's last words.
std::string read_hosts_command(const std::string& command, std::optional<std::chrono::seconds> cache);

}  // namespace podrun::cli
