// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/podrun_command.hpp"

// Options that contradict each other. Both throw UsageError.
namespace podrun::cli {

/// Before the configuration is applied, since it leaves out what is settled.
void check_choice_of_hosts(const OptionTable& table);

/// With the configuration applied. Also notes which limits were given.
void check_shared_options(Options& options, const OptionTable& table, const CommandRow& command);

}  // namespace podrun::cli
