// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/hosts/probe.hpp"
#include "podrun/restarts/restarted_run.hpp"

#include "cli/option_table.hpp"
#include "cli/options.hpp"

namespace podrun::cli {

void add_restart_options(OptionTable& table, RestartOptions& options);

/// Throws UsageError for what cannot be together with --restarts.
void check_restarts(const Options& options, const OptionTable& table);

/// Whether the command is one for restarts::run_with_restarts().
bool has_restarts(const Options& options);

/// `restarts: at most 4, …`, for --dry-run; empty without.
std::string describe_restarts(const Options& options);

/// Throws UsageError. Without make_run. The arguments must outlive it.
restarts::RestartSpec restart_spec(const Options& options, const hosts::Probe& probe);

/// --notify
void add_notify_options(OptionTable& table, std::vector<std::string>& commands);

}  // namespace podrun::cli
