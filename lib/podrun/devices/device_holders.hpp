// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "podrun/devices/scripts.hpp"

// The processes that have accelerators of a host open. Pure. All text comes from the host: escape it before
// it is shown.
namespace podrun::devices {

/// The answer of device_holders.sh on a host. The members that only podrun kill asks for are empty elsewhere.
using DeviceHolders = DeviceHoldersAnswer;
using DeviceHolder = DeviceHoldersAnswer::Process;

/// The number at the end of the name of a device: 3 of `/dev/nvidia3`; none: it has no number.
std::optional<std::size_t> device_number(std::string_view device);

}  // namespace podrun::devices
