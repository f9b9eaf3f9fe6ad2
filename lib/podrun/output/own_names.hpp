// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace podrun {

/// What a host is called in its own lines.
class OwnNames {
 public:
  /// Names and addresses of the host; a name counts up to its first dot as well. A number is no name.
  explicit OwnNames(const std::vector<std::string>& names);

  /// The name that `text` begins with, as a whole; empty: none. `before` is what the line has before it.
  std::string_view first_of(std::string_view before, std::string_view text) const;

  const std::vector<std::string>& all() const { return names_; }

 private:
  std::vector<std::string> names_;  ///< the longest first
};

bool is_ip_address(std::string_view name);

}  // namespace podrun
