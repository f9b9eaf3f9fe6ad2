// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "podrun/check/check_report.hpp"
#include "podrun/session/session.hpp"

namespace podrun::check {

/// For a host to answer, without --timeout; each part of the script has less.
inline constexpr std::chrono::seconds kTimeout{60};

/// The run of check.sh on every host that can be reached.
session::RunSpec check_run(const session::SessionSpec& session, const CheckRequest& request);

/// Makes the run and prints its report. The exit status: 1 if a host cannot be reached or differs.
int run_check(session::Session& session, const session::RunSpec& run, const CheckRequest& request);

}  // namespace podrun::check
