// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/host_pattern.hpp"

namespace podrun::hosts {

/// Refuses the line as several columns of a table. Throws UsageError.
[[noreturn]] void refuse_columns(const HostEntry& line);

/// Finds columns of a table among the hosts of one text, whatever separates them: names beside addresses,
/// private beside public addresses, unlike names, short beside long names. A table names a machine twice,
/// which would run the command twice on it.
class Columns {
 public:
  /// The next line with hosts. `is_wide`: separated by a tab or several blanks. Throws UsageError if the line
  /// has columns.
  void add_line(std::span<const Host> hosts, const HostEntry& line, bool is_wide);

  /// After the last line: throws UsageError if the lines are columns, one below or after the other.
  void finish(const std::string& where) const;

  bool empty() const { return lines_ == 0; }

 private:
  std::vector<Host> hosts_;
  std::size_t lines_ = 0;
  std::size_t width_ = 0;                  ///< hosts in the first line
  std::size_t lines_of_unlike_names_ = 0;  ///< with as many hosts as the first
  bool is_wide_ = false;
  std::string first_line_;
  std::string first_where_;
};

}  // namespace podrun::hosts
