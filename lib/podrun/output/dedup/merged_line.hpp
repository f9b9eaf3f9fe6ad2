// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace podrun::output {

/// A number in a line that may differ between hosts although the line counts as equal.
struct Measure {
  std::size_t begin = 0;  ///< bytes
  std::size_t end = 0;
  bool counts = false;  ///< no speed, duration or memory: where most hosts agree, each other one stands out
};

/// A line of one host, with its measures in order.
struct MeasuredLine {
  std::size_t host = 0;
  std::string text;
  std::vector<Measure> measures;  ///< of the text
  std::string_view printed;       ///< the line itself, for a host that has a line of its own
  bool has_other_counts = false;  ///< is known: no reason for a line of its own
};

/// A line to print for its hosts, which are ascending.
struct MergedLine {
  std::vector<std::size_t> hosts;
  std::string text;
  bool has_other_counts = false;  ///< the reason for a line of its own
};

/// Lines that count as equal, as one: each number that differs is a range, `1.18..1.22`. A host far off the
/// others has a line of its own after it. A line, not the first,
/// with another number of measures has one, too.
std::vector<MergedLine> merge_lines(std::vector<MeasuredLine> lines);

}  // namespace podrun::output
