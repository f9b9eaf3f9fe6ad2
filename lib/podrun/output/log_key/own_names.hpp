// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace podrun::output {

/// The names and addresses of a host in its own lines.
class OwnNames {
 public:
  /// A name also counts up to its first dot. A number is not a name.
  void add(const std::vector<std::string>& names);

  /// The whole name that starts at `at`; empty: none.
  std::string_view find(std::string_view line, std::size_t at) const;

  const std::vector<std::string>& all() const { return names_; }

 private:
  std::vector<std::string> names_;  ///< longest first
};

bool is_ip_address(std::string_view name);

}  // namespace podrun::output
