// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/output/own_names.hpp"

namespace podrun {

/// Makes of one host's whole lines what they are compared by with other hosts' (`--dedup=log`): each field
/// that differs by nature becomes `\n`, which no line has, and its LogField::Kind. Every other byte counts:
/// what could as well be a value is no field.
class LogKey {
 public:
  /// `rank` is the host's place among those that run; `also` are further names and addresses of it.
  LogKey(const Host& host, std::size_t rank, const std::vector<std::string>& also = {});

  /// The key holds as long as both arguments do. Costs no allocation once the buffer has grown.
  std::string_view key(std::string_view line, std::string& buffer) const;

 private:
  class Scan;

  OwnNames own_;
  std::string rank_;
  std::string label_;
  std::array<std::uint8_t, 256> classes_ = {};  ///< what each byte means to the scan
};

}  // namespace podrun
