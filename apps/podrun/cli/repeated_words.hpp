// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/option_table.hpp"

// Which words of this command line go into another one. `left`: the words before `--`.
namespace podrun::cli {

/// Without the options that the retry command sets itself.
std::vector<std::string> words_to_repeat(const OptionTable& table, const std::vector<std::string>& left);

/// ` -H a,b -l me`: the options that choose hosts and ways to them, but --workers, quoted for a shell; empty
/// if there are none, or they cannot be given again.
std::string words_for_hosts(const OptionTable& table);

/// For a run of the same command: without the name of the command, its operands and its own options, and
/// without --json.
std::vector<std::string> words_of_run(const OptionTable& table, const std::vector<std::string>& left);

}  // namespace podrun::cli
