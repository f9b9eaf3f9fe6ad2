// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "podrun/remote/command.hpp"

// Composes the sh text of a line of `podrun shell`. Pure.
namespace podrun::shell {

/// The command of the run: evaluates the line in the user's own shell there, and reports the state that it
/// leaves with this id (StateFilter). It needs the run's directory.
std::string line_text(std::string_view line, remote::ShellStart shell, std::string_view id);

/// What differs by host, before that: `restored` is sh text for the start of the line.
std::string host_text(std::string_view restored);

/// The sh code of line.sh and inside.sh, one line each.
extern const std::string_view kLineScript;
extern const std::string_view kInsideScript;

}  // namespace podrun::shell
