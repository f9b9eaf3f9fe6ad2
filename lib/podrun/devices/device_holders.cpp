// SPDX-License-Identifier: Apache-2.0
#include "podrun/devices/device_holders.hpp"

#include "podrun/base/text.hpp"

namespace podrun::devices {

std::optional<std::size_t> device_number(std::string_view device) {
  return to_number(device.substr(device.find_last_not_of("0123456789") + 1));
}

}  // namespace podrun::devices
