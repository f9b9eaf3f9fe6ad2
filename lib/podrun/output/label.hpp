// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "podrun/base/chunk.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/output/color.hpp"

namespace podrun::output {

/// The text before each line: `3: `, `tpu-3: `, `3 tpu-3: ` or nothing.
enum class Label { worker, host, both, none };

/// The label of a host's lines, with the space after it. In colour each host has one of a few colours, stderr
/// is bold, and all colours are reset before the line's text.
std::string line_label(Label label, const hosts::Host& host, StreamId stream, Color color);

/// `[0-2,7]`: the worker numbers of the hosts at these indexes.
std::string fold_hosts(const std::vector<hosts::Host>& all, std::span<const std::size_t> hosts);

/// The same, with the name of a host that is alone: `[7] tpu-7`.
std::string name_hosts(const std::vector<hosts::Host>& all, std::span<const std::size_t> hosts);

/// The label of a line of several hosts, given by index: `all: ` for all, else their folded numbers, `[0-62]:
/// `, also for one host. In colour it has the colour of the first host, or is dim for more than half of the
/// hosts.
std::string lines_label(Label label, const std::vector<hosts::Host>& all, std::span<const std::size_t> hosts,
                        StreamId stream, Color color);

}  // namespace podrun::output
