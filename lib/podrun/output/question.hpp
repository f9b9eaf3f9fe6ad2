// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace podrun {

enum class Echo { on, off };

/// Whether there is a controlling terminal.
bool can_ask_on_terminal();

/// Ctrl-C was typed instead of an answer.
struct QuestionInterrupted {};

/// Asks on the controlling terminal, whatever standard input and output are, and returns the line that is
/// typed there; nothing when there is no terminal or Ctrl-D was typed. Throws QuestionInterrupted.
std::optional<std::string> ask_on_terminal(const std::string& question, Echo echo);

}  // namespace podrun
