// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "podrun/transfer/comparison.hpp"
#include "podrun/transfer/local_tree.hpp"

// The sh texts that put staged files in place. Pure.
namespace podrun::transfer {

/// The text of podrun.check (push.sh): calls podrun_need_writable for the directories that are changed.
std::string check_text(const LocalTree& tree, const Transfer& transfer);

enum class Target : std::uint8_t { present, missing };

/// The text of podrun.switch: moves the contents of `new` in the staging directory to the target, each file
/// by rename(2), deletes, and sets modes and times. Creates a missing target. Reads podrun.staging and
/// podrun.target beside it, see push.sh. Exits with 1 if a step failed, after all the others.
std::string switch_text(const LocalTree& tree, const Transfer& transfer, Target target);

}  // namespace podrun::transfer
