// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "podrun/hosts/probe.hpp"

// The names of jobs for completion, which cannot wait for hosts: those that podrun has seen last,
// `~/.local/state/podrun/job_names`.
namespace podrun::cli {

std::vector<std::string> seen_job_names(const hosts::Probe& probe);

// Both ignore failures, since this is a convenience.
void set_seen_job_names(const std::vector<std::string>& names, const hosts::Probe& probe);
void add_seen_job_name(const std::string& name, const hosts::Probe& probe);

}  // namespace podrun::cli
