// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "podrun/output/log_fields.hpp"
#include "podrun/output/own_names.hpp"

namespace podrun {

/// The fields of a log prefix, in their order.
struct PrefixFields {
  std::array<LogField, 4> fields = {};
  std::size_t count = 0;
};

/// Reads what loggers write before the message: glog and absl (also in PyTorch's brackets), the kernel, NCCL,
/// Python's logging, syslog (RFC 3164, RFC 5424), and times of others. What could as well be a message gives
/// no field. Times that datetime_size() knows anywhere are given too.
PrefixFields prefix_fields(std::string_view line, const OwnNames& own);

}  // namespace podrun
