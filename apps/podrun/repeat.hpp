// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace podrun {

/// The command line that runs again on just these ranks, for a shell; values of `-e` and of leading
/// assignments are left out, as they may be secret and what is printed may be kept.
std::string repeat_command(const std::vector<std::string>& arguments, const std::string& ranks);

}  // namespace podrun
