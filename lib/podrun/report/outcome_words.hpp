// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/link/failure.hpp"
#include "podrun/run/outcome.hpp"

// The words for outcomes, stages and causes, and their identifiers in `--json` (docs/json.md). Pure.
namespace podrun::report {

std::string_view identifier(link::Stage stage);
std::string_view identifier(link::Cause cause);

/// `key exchange`; empty for Stage::none.
std::string_view words(link::Stage stage);
/// The cause alone, without a detail.
std::string_view words(link::Cause cause);

std::string_view identifier(const run::HostOutcome& outcome);
/// The identifiers of all outcomes.
std::vector<std::string_view> outcome_identifiers();

/// The kind of an outcome: one of outcome_words().
std::string_view words(const run::HostOutcome& outcome);
/// `ok`, `failed`, `lost`, …: in the order of the final report.
std::span<const std::string_view> outcome_words();

/// The cause with its detail, without the stage. Not escaped: it may contain control bytes.
std::string reason(const link::Failure& failure);

/// `connecting: connection refused`
std::string describe(const link::Failure& failure);

}  // namespace podrun::report
