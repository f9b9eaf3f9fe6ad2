// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace podrun::files {

/// The sh texts that run on hosts, one line each, see lib/scripts.txt.
extern const std::string_view kPlaceScript;  ///< a part of the switch
extern const std::string_view kPushScript;
extern const std::string_view kSumsScript;
extern const std::string_view kPullListScript;
extern const std::string_view kPullSendScript;

}  // namespace podrun::files
