// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cli/podrun_command.hpp"

// Completion of podrun's own command line, made from the table of commands and the table of options.
namespace podrun::cli {

/// They are looked up only when they are needed.
struct CompletionSources {
  std::function<std::vector<std::string>()> hosts;
  std::function<std::vector<std::string>()> workers;
  std::function<std::vector<std::string>()> pods;
  std::function<std::vector<std::string>()> jobs;
};

/// The only line where nothing fits, and no name of a file would.
inline constexpr std::string_view kNothing = ":nothing";

/// The completions of the last word, a line `WORD\tDESCRIPTION` each; empty: the shell completes file names.
/// `words`: all words after `podrun`.
std::vector<std::string> completions(const std::vector<std::string>& words,
                                     std::span<const CommandRow> commands, const OptionTable& table,
                                     const CompletionSources& sources);

}  // namespace podrun::cli
