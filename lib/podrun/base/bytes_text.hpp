// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace podrun {

/// `512 B`, `1.5 kB`, `20 MB`: units of 1000, two digits or more.
std::string format_bytes(std::uint64_t bytes);

}  // namespace podrun
