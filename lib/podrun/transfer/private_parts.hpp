// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/transfer/local_tree.hpp"

namespace podrun::transfer {

/// What in the tree is hardly meant for hosts: `"./" is your home directory, with .ssh and .aws`, a text for
/// each source. Keys that a user names as a source, or that ignore rules leave out, do not count.
std::vector<std::string> private_parts(const LocalTree& tree);

}  // namespace podrun::transfer
