// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "podrun/output/question.hpp"
#include "podrun/reach/ssh_state.hpp"

namespace podrun::commands {

/// Asks on the terminal what an attempt of the run has left open: once about all new host keys, once for each
/// passphrase. Whether connecting again makes sense; no, without a terminal. Throws as ask_on_terminal().
bool answer_questions(reach::SshState& ssh, const output::Asker& asker);

}  // namespace podrun::commands
