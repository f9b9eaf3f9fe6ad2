// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace podrun::output {

enum class Echo { on, off };

/// Whether the process has a controlling terminal.
bool can_ask_on_terminal();

/// The user typed Ctrl-C instead of an answer, or the asker was interrupted.
struct QuestionInterrupted {};
/// The terminal belongs to another process group, so podrun may not read from it.
struct AskedInBackground {};

/// The asker's handling of signals.
struct Asker {
  std::function<bool()> interrupted;
  std::function<void()> suspend;  ///< suspends the process; returns when it continues
};

/// Asks on the controlling terminal, independently of stdin and stdout, and returns the typed line; none
/// without a terminal or after Ctrl-D. After Ctrl-Z it suspends and asks again. Throws QuestionInterrupted,
/// also shortly after `interrupted` becomes true, and AskedInBackground.
std::optional<std::string> ask_on_terminal(const std::string& question, Echo echo, const Asker& asker);

}  // namespace podrun::output
