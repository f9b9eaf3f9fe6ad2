// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "cli/podrun_command.hpp"

namespace podrun::cli {

/// podrun(1) in the macros of man(7), made from the table of commands and the table of options.
std::string man_page(std::span<const CommandRow> commands, const OptionTable& table);

}  // namespace podrun::cli
