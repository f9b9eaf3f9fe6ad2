// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/probe.hpp"
#include "podrun/ssh/settings.hpp"

#include "options.hpp"

namespace podrun {

/// What the command line says of SSH, for every host. Throws UsageError.
SshSettings ssh_settings(const Options& options, const Probe& probe);

/// The same for one host: its list's user and port win.
SshSettings settings_for(const SshSettings& common, const Host& host);

}  // namespace podrun
