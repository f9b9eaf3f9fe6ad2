// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/options.hpp"

namespace podrun::cli {

/// How to run again on just these workers: a command line for a shell. If that line could not repeat the run,
/// or would show values that may be secret: text that names the options to add to the same command.
std::string repeat_command(const Options& options, const std::string& workers);

}  // namespace podrun::cli
