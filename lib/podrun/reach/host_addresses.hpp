// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/ssh/config/ssh_config.hpp"

namespace podrun::reach {

/// The first address of each host's name (HostName of ssh_config), looked up together; empty for this
/// machine, and where there is none within two seconds.
std::vector<std::string> addresses_of(const std::vector<hosts::Host>& hosts, ssh::SshConfig& config);

/// Removes the stored keys of the hosts. Returns lines that say from which files. Throws UsageError.
std::string forget_keys_of(const std::vector<hosts::Host>& hosts, ssh::SshConfig& config);

}  // namespace podrun::reach
