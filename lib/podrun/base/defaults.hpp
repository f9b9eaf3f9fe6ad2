// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

// Defaults of options that several structs have. That of any other option is in the struct that its row sets.
namespace podrun {

/// Of `--grace`: the time between TERM and KILL.
inline constexpr std::chrono::seconds kDefaultGrace{10};
/// Of `--orphan-timeout`: the time without contact after which a host stops its command.
inline constexpr std::chrono::seconds kDefaultOrphanTimeout{120};

}  // namespace podrun
