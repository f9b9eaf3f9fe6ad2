// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace podrun::remote {

/// The sh texts that run on hosts, one line each. CMake makes them from the fragments that lib/scripts.txt
/// names.
extern const std::string_view kSupervisorScript;
extern const std::string_view kEnvironmentScript;
extern const std::string_view kCleanUpScript;  ///< a preparation
extern const std::string_view kFeederScript;
extern const std::string_view kHoldersScript;

}  // namespace podrun::remote
