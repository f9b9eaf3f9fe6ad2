// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "podrun/config/config.hpp"
#include "podrun/hosts/probe.hpp"

#include "cli/option_table.hpp"
#include "cli/options.hpp"

namespace podrun::cli {

struct CommandRow;

/// The configuration that was found.
struct AppliedConfig {
  std::string path;                             ///< the path that was tried, as shown to people
  std::optional<config::Configuration> config;  ///< none: there is none
  std::optional<std::string> metadata;          ///< the origin of `metadata: true` of the chosen pod
};

/// Reads config.yaml and sets what the command line has left open: first what the chosen pod says, then the
/// defaults. A value of an option that the command does not take is only checked. Throws UsageError:
/// `config.yaml:7: grace: bad duration "x" (…)`.
AppliedConfig apply_config(OptionTable& table, Options& options, const CommandRow& command,
                           const hosts::Probe& probe);

}  // namespace podrun::cli
