// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "podrun/hosts/probe.hpp"
#include "podrun/output/status_line.hpp"

#include "options.hpp"
#include "plan.hpp"
#include "purpose.hpp"

namespace podrun {

/// A run of check.sh on every host that can be reached. Throws UsageError.
Plan make_check_plan(const Options& options, const Probe& probe);

/// To compare what the hosts say of themselves; status 1 when they differ or one has a problem. What it is
/// given must outlive it.
std::unique_ptr<Purpose> make_check_purpose(const Plan& plan, const Options& options, Charset charset);

}  // namespace podrun
