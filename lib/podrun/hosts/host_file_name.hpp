// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "podrun/hosts/host.hpp"

namespace podrun::hosts {

/// `3-tpu-3`, as the name of a file or directory for a host: a single name, even if the host's has slashes.
std::string host_file_name(const Host& host);

}  // namespace podrun::hosts
