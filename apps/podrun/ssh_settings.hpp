// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/probe.hpp"
#include "podrun/ssh/settings.hpp"

#include "options.hpp"

namespace podrun {

/// How the hosts are reached over SSH.
struct SshPlan {
  std::string home;                      ///< of the user: where keys and known hosts are
  SshSettings settings;                  ///< of every host
  std::vector<std::string> passed_over;  ///< keywords of `-o` that change nothing here
};

/// What the command line says of it. Throws UsageError.
SshPlan ssh_plan(const Options& options, const Probe& probe);

/// The same for one host: its list's user and port win.
SshSettings settings_for(const SshSettings& common, const Host& host);

}  // namespace podrun
