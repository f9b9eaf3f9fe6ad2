// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "podrun/config/config.hpp"
#include "podrun/hosts/probe.hpp"

namespace podrun::config {

/// `$XDG_CONFIG_HOME/podrun/config.yaml`, else `~/.config/podrun/config.yaml`. A relative $XDG_CONFIG_HOME is
/// ignored: https://specifications.freedesktop.org/basedir-spec
std::string config_path(const hosts::Probe& probe, const std::string& home);

/// A path for messages: `~` stands for `home`.
std::string short_path(const std::string& path, const std::string& home);

/// Nothing if there is no such file. Throws UsageError if it cannot be read or is wrong, or if others own it
/// or may write it, because it can name programs to run.
std::optional<Configuration> read_configuration(const std::string& path, const std::string& home);

}  // namespace podrun::config
