// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cli/podrun_command.hpp"

namespace podrun::commands {

/// `podrun completion bash | zsh | fish`: the script that completes podrun's command line in this shell. It
/// asks `podrun completion words WORD...`.
std::unique_ptr<cli::Command> make_completion_command();

}  // namespace podrun::commands
