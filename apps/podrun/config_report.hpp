// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config_options.hpp"
#include "option_table.hpp"

namespace podrun {

/// `podrun config`: every option that is set or has a default, as keys of a configuration, with where it came
/// from as a comment. Of variables only the names are shown.
std::string describe_config(const OptionTable& table, const AppliedConfig& applied);

}  // namespace podrun
