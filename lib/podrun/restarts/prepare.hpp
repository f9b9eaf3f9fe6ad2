// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "podrun/session/session.hpp"

namespace podrun::restarts {

struct PrepareEnd {
  int status = 0;                            ///< 128+N: ended by signal N; 126: it could not start
  std::optional<int> signal = std::nullopt;  ///< podrun received it meanwhile, and has ended the command
};

/// Runs text in /bin/sh on this machine between two runs of the session, without input, with these variables
/// (`NAME=VALUE`) besides podrun's own. What it prints goes to standard error.
PrepareEnd run_here(session::Session& session, const std::string& command,
                    const std::vector<std::string>& variables);

}  // namespace podrun::restarts
