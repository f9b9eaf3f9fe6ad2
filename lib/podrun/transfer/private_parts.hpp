// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/transfer/local_tree.hpp"

namespace podrun::transfer {

/// Finds sources that are hardly meant for hosts. Returns a text for each: `"./" is your home directory, with
/// .ssh and .aws`. Keys that a user names as a source, or that ignore rules leave out, do not count.
std::vector<std::string> private_parts(const LocalTree& tree);

}  // namespace podrun::transfer
