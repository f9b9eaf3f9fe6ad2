// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/hosts/discovery.hpp"
#include "podrun/hosts/probe.hpp"

namespace podrun::commands {

/// May a file that is there be replaced (`--force`)?
enum class Overwrite { refuse, replace };

/// Writes the whole list to ~/podips.txt, at once or not at all. Returns notes that say so, and whether this
/// machine may not reach the hosts by these addresses. Throws UsageError.
std::vector<std::string> save_hosts(const hosts::Discovery& found, Overwrite overwrite,
                                    const hosts::Probe& probe);

}  // namespace podrun::commands
