// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "podrun/link/failure.hpp"

// The words for stages and causes, and their identifiers in `--json` (docs/json.md). Pure.
namespace podrun::report {

std::string_view identifier(link::Stage stage);
std::string_view identifier(link::Cause cause);

/// `key exchange`; empty for Stage::none.
std::string_view words(link::Stage stage);
/// Where nothing more is known.
std::string_view words(link::Cause cause);

/// The cause with its detail, without the stage. Not escaped: it may contain control bytes.
std::string reason(const link::Failure& failure);

/// `connecting: connection refused`
std::string describe(const link::Failure& failure);

}  // namespace podrun::report
