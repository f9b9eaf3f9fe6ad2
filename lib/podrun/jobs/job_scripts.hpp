// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace podrun::jobs {

/// The sh texts that run on hosts, see lib/scripts.txt.
extern const std::string_view kClaimScript;
extern const std::string_view kStartScript;
extern const std::string_view kLogsScript;
extern const std::string_view kJobsScript;

}  // namespace podrun::jobs
