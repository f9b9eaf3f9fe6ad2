// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "podrun/link/failure.hpp"

namespace podrun::report {

/// Adds `stage`, `cause` and `jump_host` to an object, see docs/json.md.
void add_failure(nlohmann::ordered_json& object, const link::Failure& failure);

}  // namespace podrun::report
