// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "podrun/remote/command.hpp"

// Composes the sh text of a line of `podrun shell`. Pure.
namespace podrun::shell {

/// The command of the run: evaluates the line in the user's own shell there, and reports the state that it
/// leaves (StateFilter). It needs the run's directory.
std::string line_text(std::string_view line, remote::ShellStart shell);

/// What differs by host, before that: `restored` is sh text for the start of the line; `id` begins the lines
/// of the report. A random one for each host and line, since no output of another may pass for the report.
std::string host_text(std::string_view restored, std::string_view id);

}  // namespace podrun::shell
