// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "podrun/run/outcome.hpp"

namespace podrun::run {

/// Hosts that have ended alike to the reader, however often each was tried.
struct OutcomeGroup {
  HostOutcome outcome;
  std::vector<std::size_t> hosts;  ///< indexes
  std::size_t fewest_attempts;
  std::size_t most_attempts;
};

/// What went well first, then by kind, then by status. Pure.
std::vector<OutcomeGroup> group_outcomes(const std::vector<HostOutcome>& outcomes);

/// Why the host could not be used, if that is how it ended.
const link::Failure* failure_of(const HostOutcome& outcome);

}  // namespace podrun::run
