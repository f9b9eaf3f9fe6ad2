// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "podrun/run/outcome.hpp"

namespace podrun::run {

/// Hosts with the same outcome, regardless of the number of attempts.
struct OutcomeGroup {
  HostOutcome outcome;
  std::vector<std::size_t> hosts;  ///< indexes
  std::size_t fewest_attempts;
  std::size_t most_attempts;
};

/// Success first, then by kind, then by status. Pure.
std::vector<OutcomeGroup> group_outcomes(const std::vector<HostOutcome>& outcomes);

/// The failure in the outcome, if it has one.
const link::Failure* failure_of(const HostOutcome& outcome);

}  // namespace podrun::run
