// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace podrun::devices {

/// True for programs that open every accelerator without using it: daemons of drivers (CUDA's MPS), monitors,
/// X servers. Any process can take such a name. `name`: as in /proc/PID/comm, which has the first 15 bytes.
bool is_watcher(std::string_view name);

}  // namespace podrun::devices
