// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace podrun {

/// `25 years`, `41 days`, `27 h`, `12 min`, `90 s`: whole units, two of them at least.
std::string long_duration(std::chrono::seconds time);

/// The same, but tenths of a second below two minutes: `3.2 s`.
std::string long_offset(double seconds);

}  // namespace podrun
