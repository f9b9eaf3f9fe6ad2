// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace podrun {

enum class Echo { on, off };

/// Whether there is a controlling terminal.
bool can_ask_on_terminal();

/// Ctrl-C was typed instead of an answer, or the asker was interrupted.
struct QuestionInterrupted {};
/// The terminal belongs to another process group, so its input is not for podrun.
struct AskedInBackground {};

/// Asks on the controlling terminal, whatever standard input and output are, and returns the line that is
/// typed there; nothing when there is no terminal or Ctrl-D was typed. Throws QuestionInterrupted, also a
/// moment after `interrupted` becomes true, and AskedInBackground.
std::optional<std::string> ask_on_terminal(const std::string& question, Echo echo,
                                           const std::function<bool()>& interrupted);

}  // namespace podrun
