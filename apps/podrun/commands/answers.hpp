// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/output/terminal.hpp"

namespace podrun::commands {

/// Prints text on standard output. The exit status: 1 when it cannot be written.
int answer(const std::string& text, output::Terminal& terminal);

/// Prints each note on standard error, after `podrun: `.
void say(const std::vector<std::string>& notes, output::Terminal& terminal);

}  // namespace podrun::commands
