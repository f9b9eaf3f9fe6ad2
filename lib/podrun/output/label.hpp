// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "podrun/base/stream_id.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/output/color.hpp"

namespace podrun {

/// What stands before each line: `3: `, `tpu-3: `, `3 tpu-3: ` or nothing.
enum class Label { rank, host, both, none };

/// The label of a host's lines with the space behind it. In colour each host has its own out of a few, stderr
/// is bold, and the line's text begins with everything reset.
std::string line_label(Label label, const Host& host, StreamId stream, Color color);

/// `[0-2,7]`: the labels of the hosts with these places.
std::string fold_labels(const std::vector<Host>& all, std::span<const std::size_t> hosts);

/// That of a line of several hosts, given by their places: `all: ` for all, else their folded ranks,
/// `[0-62]: `; of one host in brackets too. In colour, a few
/// have that of the first of them, most are dim.
std::string lines_label(Label label, const std::vector<Host>& all, std::span<const std::size_t> hosts,
                        StreamId stream, Color color);

}  // namespace podrun
