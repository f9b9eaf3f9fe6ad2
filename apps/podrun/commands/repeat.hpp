// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/options.hpp"

namespace podrun::commands {

/// How to run again on just these ranks: the command line, for a shell; or, where that alone does not make
/// the run or has values that may be secret, what to give it in addition.
std::string repeat_command(const cli::Options& options, const std::string& workers);

}  // namespace podrun::commands
