// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ssh_state.hpp"

namespace podrun {

/// Asks on the terminal what an attempt of the run has left open: once about all new host keys, once for each
/// passphrase. Whether connecting again makes sense; no, without a terminal. Throws QuestionInterrupted.
bool answer_questions(SshState& ssh);

}  // namespace podrun
