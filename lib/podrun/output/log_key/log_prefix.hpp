// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "podrun/output/log_key/log_fields.hpp"
#include "podrun/output/log_key/own_names.hpp"

namespace podrun::output {

/// The fields of a log prefix, in order.
struct PrefixFields {
  std::array<LogField, 4> fields = {};
  std::size_t count = 0;
};

/// Finds fields in the prefixes of loggers: glog and absl (also in PyTorch's brackets), the kernel, NCCL,
/// Python's logging, syslog (RFC 3164, RFC 5424), and other times, also those of datetime_size(). Text that
/// may be a message has no field.
PrefixFields prefix_fields(std::string_view line, const OwnNames& own);

}  // namespace podrun::output
