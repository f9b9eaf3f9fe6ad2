// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/run/outcome.hpp"
#include "podrun/supervisor/command.hpp"

namespace podrun::report {

/// For a failed command of several words that look meant for a shell (`|`, `&&`, `>`, `*`, `~/`, `cd`): how
/// to quote it.
std::optional<std::string> quoting_hint(const std::vector<std::string>& words,
                                        const std::vector<run::HostOutcome>& outcomes);

/// The machine that podrun runs on.
struct Here {
  std::string home;  ///< of the user
  std::function<bool(const std::string& path)> is_file;
};

/// For a failed command that names a file of this machine: a script (`-s` runs it), or a path in the user's
/// home, which the shell here has expanded.
std::optional<std::string> local_path_hint(const supervisor::Command& command,
                                           const std::vector<run::HostOutcome>& outcomes, const Here& here);

/// For `NAME=value sudo …`: sudo drops the variable.
std::optional<std::string> sudo_variable_hint(const supervisor::Command& command);

/// For a failed command with a program that needs a terminal (`top`, `vim`): how to get one. Not where its
/// options do without (`top -b`).
std::optional<std::string> terminal_hint(const supervisor::Command& command,
                                         const std::vector<hosts::Host>& hosts,
                                         const std::vector<run::HostOutcome>& outcomes,
                                         std::string_view called);

/// The same before a program that waits forever instead of failing (`vim`); its screen may hide this.
std::optional<std::string> terminal_warning(const supervisor::Command& command,
                                            const std::vector<hosts::Host>& hosts, std::string_view called);

/// For hosts that accept no key of the user: how to install one. `can_ask`: podrun could have asked for a
/// password.
std::optional<std::string> login_hint(const std::vector<run::HostOutcome>& outcomes, bool can_ask);

/// For hosts where -c found that a live process holds the accelerators: how to stop its job, or what it is.
std::optional<std::string> busy_hint(const std::vector<run::HostOutcome>& outcomes, std::string_view called);

/// For hosts whose SSH server said something instead of its version and closed the connection: the likely
/// reasons.
std::optional<std::string> turned_away_hint(const std::vector<run::HostOutcome>& outcomes);

enum class RemoteBy { ssh, via };

/// For hosts that were reached (`remote`: other machines by ssh or --via), but whose SSH server or /bin/sh
/// never answered, or where sudo wants a password: possible reasons, and how to find out.
std::optional<std::string> start_up_hint(const std::vector<hosts::Host>& hosts,
                                         const std::vector<run::HostOutcome>& outcomes, RemoteBy remote);

}  // namespace podrun::report
