// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "podrun/hosts/probe.hpp"

namespace podrun::shell {

constexpr int kMostHistoryEntries = 2000;

/// The user's; empty if there is no directory for it.
std::string history_file(const hosts::Probe& probe);
/// Cuts a history file to its last lines, makes it readable only by the user, and returns it. Empty if there
/// is none.
std::string read_history(const std::string& file);
/// Adds a line to the file; creates file and directory. Ignores failures, since a history is a convenience.
void add_to_history(const std::string& file, const std::string& line);

}  // namespace podrun::shell
