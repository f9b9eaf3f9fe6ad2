// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "cli/podrun_command.hpp"

// The pages of help, made from the table of commands and the table of options.
namespace podrun::cli {

/// `podrun --help`: the commands and the most used options, on one screen of 50 lines by 80 columns.
std::string overview_page(std::span<const CommandRow> commands, const OptionTable& table);

/// `podrun COMMAND --help`: how it is used, and every option that it takes.
std::string command_page(const CommandRow& command, const OptionTable& table);

/// `podrun help all`: every command and every option.
std::string full_page(std::span<const CommandRow> commands, const OptionTable& table);

}  // namespace podrun::cli
