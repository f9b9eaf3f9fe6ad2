// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace podrun {

/// The sh files of this folder, as they are. Built in by CMake.
extern const std::string_view kSupervisorScript;
extern const std::string_view kCleanUpScript;
extern const std::string_view kFeederScript;
extern const std::string_view kHoldersScript;
extern const std::string_view kCheckScript;

/// sh text without its comment lines, joined to one line.
std::string to_one_line(std::string_view script);

}  // namespace podrun
