// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "podrun/config/config.hpp"
#include "podrun/hosts/probe.hpp"

namespace podrun {

/// `$XDG_CONFIG_HOME/podrun/config.yaml`, else `~/.config/podrun/config.yaml`.
/// https://specifications.freedesktop.org/basedir-spec: a relative $XDG_CONFIG_HOME is no directory.
std::string config_path(const Probe& probe, const std::string& home);

/// A path as people write it: `~` for `home`.
std::string short_path(const std::string& path, const std::string& home);

/// Nothing where there is no such file. Throws UsageError when it cannot be
/// read, is no configuration, or belongs to or may be written by others: it can name programs to run.
std::optional<Configuration> read_configuration(const std::string& path, const std::string& home,
                                                const Probe& probe);

}  // namespace podrun
