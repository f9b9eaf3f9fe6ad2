// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/transfer/local_tree.hpp"

namespace podrun::transfer {

/// Finds sources that are hardly meant for hosts. Returns a text for each: `"./" is your home directory, with
/// .ssh and .aws`. Keys that a user names as a source, or that ignore rules leave out, do not count.
std::vector<std::string> private_parts(const LocalTree& tree);

/// The same for sources on a host, of which only the names are known. `words`: in the form of pull_word().
/// Returns `the home directory` or `.ssh and .aws`; empty: nothing.
std::string private_parts_of_host(const LocalTree& tree, const std::vector<std::string>& words);

}  // namespace podrun::transfer
