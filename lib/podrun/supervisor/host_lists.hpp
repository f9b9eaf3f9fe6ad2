// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// The variables that list all hosts of a run (PODRUN_HOSTLIST and its like), as sh text of few bytes.
namespace podrun::supervisor {

/// The most that the lists may take in the text for a host, in bytes, unless the command asks for them.
inline constexpr std::size_t kMaxLists = 4 * 1024;

/// A variable that lists one thing of every host, such as its name: a line for each host, by rank.
struct HostListVariable {
  std::string name;
  std::string values;
  bool is_wanted = false;  ///< the command asks for it
};

/// sh text that exports them, ending with `; `. One that is not wanted and finds no place in kMaxLists is
/// left out, and not set on the hosts. Pure.
std::string export_lists(const std::vector<HostListVariable>& lists);

/// The values as the words of podrun_unfold() in that text: names in a row (`tpu-0`, `tpu-1`, …) as
/// `PREFIX,FIRST,LAST,SUFFIX`. Empty: they cannot be given so. Pure.
std::string fold_values(const std::vector<std::string_view>& values);

}  // namespace podrun::supervisor
