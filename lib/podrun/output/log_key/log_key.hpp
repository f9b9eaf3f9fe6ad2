// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/output/log_key/log_fields.hpp"

namespace podrun::output {

/// Makes the keys that compare a host's whole lines with lines of others (`--dedup=log`). Each field that
/// always differs becomes `\n`, which no line has, and its LogField::Kind. All other bytes count: a possible
/// value is not a field.
class LogKey {
 public:
  /// `rank` is the host's number among those that run; `also` are more names and addresses of it.
  LogKey(const hosts::Host& host, std::size_t rank, const std::vector<std::string>& also = {});

  /// The key is valid while both arguments are. Allocates nothing once the buffer has grown.
  std::string_view key(std::string_view line, std::string& buffer) const;

 private:
  class Scan;

  OwnNames own_;
  std::string rank_;
  std::string worker_;
  std::array<std::uint8_t, 256> classes_ = {};  ///< the meaning of each byte for the scan
};

}  // namespace podrun::output
