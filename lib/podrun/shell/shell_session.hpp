// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "podrun/hosts/probe.hpp"
#include "podrun/session/specs.hpp"

namespace podrun::shell {

/// The input of `podrun shell`, the environment of every line, and the view of its output.
struct ShellSpec {
  int input = 0;             ///< descriptor of the lines, if there is no prompt
  bool is_terminal = false;  ///< standard input is one: there is a prompt
  std::vector<supervisor::Variable> variables = {};
  supervisor::ShellStart shell = supervisor::ShellStart::plain;
  std::string directory = {};                                       ///< empty: where a login starts
  std::optional<std::chrono::milliseconds> timeout = std::nullopt;  ///< of each line
  session::View view = {};
};

/// Reads lines from the input, and runs each on the hosts of the session. The exit status: that of the
/// last line. Throws UsageError.
int run_shell(const ShellSpec& spec, const session::SessionSpec& session, const hosts::Probe& probe);

}  // namespace podrun::shell
