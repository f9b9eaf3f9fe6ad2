// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "podrun/output/question.hpp"
#include "podrun/reach/run_connectors.hpp"

namespace podrun::session {

inline constexpr std::string_view kAskedInBackground =
    "cannot ask questions in the background (run podrun in the foreground, under timeout(1) with its "
    "--foreground)";

/// Whether the answer is a yes, in any spelling. No answer is a no, and so is the third that is neither.
/// Throws as ask_on_terminal().
bool ask_yes_or_no(const std::string& question, const output::Asker& asker);

/// Asks on the terminal what a pass of the run has left open: once about all new host keys, once for each
/// passphrase. Whether connecting again makes sense; no, without a terminal. Throws as ask_on_terminal().
bool answer_questions(reach::SshState& ssh, const output::Asker& asker);

}  // namespace podrun::session
