// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "podrun/link/failure.hpp"
#include "podrun/run/outcome.hpp"

namespace podrun::report {

/// Adds `stage`, `cause` and `jump_host` to an object, see docs/json.md.
void add_failure(nlohmann::ordered_json& object, const link::Failure& failure);
/// The same for a host that has not answered, and `message`.
void add_failure(nlohmann::ordered_json& object, const run::HostOutcome& outcome);

}  // namespace podrun::report
