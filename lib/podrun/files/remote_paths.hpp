// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "podrun/files/comparison.hpp"
#include "podrun/files/local_tree.hpp"

namespace podrun::files {

/// Which of these paths of a host, which are not sent from here, must stay though push deletes: those that
/// the rules of the request's first directory ignore, and those that are not below it. Throws UsageError.
std::vector<bool> ignored_among(const std::vector<HostOnly>& paths, const TreeRequest& request);

}  // namespace podrun::files
