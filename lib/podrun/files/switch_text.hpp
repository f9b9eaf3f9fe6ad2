// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "podrun/files/comparison.hpp"
#include "podrun/files/local_tree.hpp"

// The sh texts that put staged files in place. Pure.
namespace podrun::files {

/// podrun.check of push.sh: the directories that are changed, as arguments of podrun_need_writable.
std::string check_text(const LocalTree& tree, const Transfer& transfer);

enum class Target : std::uint8_t { present, missing };

/// podrun.switch: moves what is in `new` of the staging directory to the target, each file by rename(2),
/// deletes, and sets modes and times. A missing target is made. Reads podrun.staging and podrun.target beside
/// it, see push.sh. Exit status 1 if a step failed; the others are done nevertheless.
std::string switch_text(const LocalTree& tree, const Transfer& transfer, Target target);

}  // namespace podrun::files
