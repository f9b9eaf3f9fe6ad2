// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/output/terminal.hpp"

namespace podrun::output {

/// Prints text on standard output. The exit status: 1 when it cannot be written.
int print_answer(const std::string& text, Terminal& terminal);

/// Prints each note on standard error, after `podrun: `.
void print_notes(const std::vector<std::string>& notes, Terminal& terminal);

}  // namespace podrun::output
