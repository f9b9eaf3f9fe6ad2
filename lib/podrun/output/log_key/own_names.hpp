// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace podrun::output {

/// The names of a host in its own lines.
class OwnNames {
 public:
  /// Names and addresses of the host; a name also counts up to its first dot. A number is not a name.
  explicit OwnNames(const std::vector<std::string>& names);

  /// The whole name that `text` begins with; empty: none. `before` is the line before it.
  std::string_view first_of(std::string_view before, std::string_view text) const;

  const std::vector<std::string>& all() const { return names_; }

 private:
  std::vector<std::string> names_;  ///< longest first
};

bool is_ip_address(std::string_view name);

}  // namespace podrun::output
