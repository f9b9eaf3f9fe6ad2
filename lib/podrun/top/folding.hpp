// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "podrun/top/top_pod.hpp"

namespace podrun::top {

/// Hosts (indexes) that are up and not odd, in groups whose figures are close to each other: the largest
/// first. Two kinds of hosts (stages of a pipeline, an evaluation) are two groups. Pure.
std::vector<std::vector<std::size_t>> fold_alike(const Pod& pod);

/// The odd hosts in the order in which they are shown: severity, then age, then number. No value decides, so
/// that rows do not hop.
std::vector<std::size_t> odd_in_order(const Pod& pod);

/// `GPU 98 %, 655 W, HBM 88 %, CPU 22 %`: the medians of these hosts.
std::string describe_alike(const Pod& pod, const std::vector<std::size_t>& hosts);
/// The medians of these hosts.
Figures medians_of(const Pod& pod, const std::vector<std::size_t>& hosts);

/// The reasons why a host is odd.
std::string describe_odd(const HostRow& row, std::string_view separator);

/// Chips of all hosts. A TPU without figures is busy if a process has one open.
struct ChipCounts {
  std::size_t all = 0;
  std::size_t busy = 0;
  std::size_t idle = 0;
  std::size_t unknown() const { return all - busy - idle; }
};
ChipCounts count_chips(const Pod& pod);
/// `2048 × H100`; empty: no host has accelerators.
std::string describe_accelerators(const Pod& pod);
/// `GPU`, `duty`: what the busy figure is called on these hosts.
std::string_view busy_name(const Pod& pod);
/// `GPU %`, `RAM %`: what a figure is called on these hosts.
std::string name_of(const Pod& pod, Figure figure);

}  // namespace podrun::top
