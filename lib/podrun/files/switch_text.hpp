// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/files/comparison.hpp"
#include "podrun/files/local_tree.hpp"

// The sh texts that put staged files in place. Pure.
namespace podrun::files {

/// podrun.check of push.sh: the directories that are changed, as arguments of podrun_need_writable.
std::string check_text(const LocalTree& tree, const Transfer& transfer);

/// podrun.switch: moves what is in `staging/new` beside it to `target` beside it, each file by rename(2),
/// deletes, and sets modes and times. `make`: the target is missing, and is made. Exit status 1 if a step
/// failed; the others are done nevertheless.
std::string switch_text(const LocalTree& tree, const Transfer& transfer, const std::string* make);

}  // namespace podrun::files
