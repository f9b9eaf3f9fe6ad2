// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "podrun/link/link.hpp"

namespace podrun {

/// The command text that runs a program through whatever login shell the user has there: POSIX shells, zsh,
/// csh, tcsh and fish read it alike. Throws HostError for an argument with a newline, which csh cannot be
/// given.
std::string exec_text(const Program& program);

}  // namespace podrun
