// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/python/cell_machine.hpp"

// What `podrun python` says of its cells. Pure; `host` is an index into `hosts`.
namespace podrun::python {

struct HostReply {
  std::size_t host = 0;
  CellReply reply;
};

/// Lines for the terminal, safe to print: values and tracebacks whole, equal ones once, the largest group
/// first, without a label where all `asked` hosts have it. Addresses (0x7f…) do not count. Equal frames are
/// shown once, with the last line of each host if these differ.
std::vector<std::string> describe_replies(const std::vector<hosts::Host>& hosts,
                                          std::span<const HostReply> replies, std::size_t asked);

/// A host and where its interpreter is.
using HostPlace = std::pair<std::size_t, std::string>;
/// `[0-2,4-7] wait in <cell 6>, line 5, in train`: a line for each place, the smallest group first.
std::vector<std::string> describe_places(const std::vector<hosts::Host>& hosts,
                                         std::span<const HostPlace> places);

/// The cell before, for the prompt.
struct CellsBefore {
  CellHosts idle = {};  ///< the hosts of the next cell
  CellHosts lost = {};  ///< those without an interpreter
  std::vector<HostReply> replies = {};
};
/// `[0-7] >>> `, `[0-6] 2 s, [3] 8 s · [3] ValueError · lost [7] >>> `: at most 80 columns, mostly far fewer.
std::string cell_prompt(const std::vector<hosts::Host>& hosts, const CellsBefore& before,
                        std::string_view separator);
/// `      ... `, as wide as the hosts of the prompt are there.
std::string more_prompt(std::string_view prompt);

}  // namespace podrun::python
