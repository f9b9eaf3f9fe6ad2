// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "ssh_state.hpp"

namespace podrun {

/// Asks on the terminal what an attempt of the run has left open: once about all new host keys, once for each
/// passphrase. Whether connecting again makes sense; no, without a terminal. Throws as ask_on_terminal().
bool answer_questions(SshState& ssh, const std::function<bool()>& interrupted);

}  // namespace podrun
